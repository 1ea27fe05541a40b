"""What its makers study: the paper's experiments, and the tables of docs/."""
