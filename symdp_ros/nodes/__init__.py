"""The executables: one module for each node."""
