"""The benchmark suite: every goal of speed, measured against what else could do the job."""
