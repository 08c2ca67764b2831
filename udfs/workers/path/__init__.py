"""A directory for the path of Python processes that Spark starts: Python runs what is in it before anything else."""
