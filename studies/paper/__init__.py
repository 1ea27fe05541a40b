"""The paper's experiments, on a street map of our own (`python -m studies.paper`)."""
