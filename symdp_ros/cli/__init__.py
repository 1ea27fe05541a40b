"""The command line, `symdp`."""
