"""A user's program on a standalone Spark cluster of this machine."""
