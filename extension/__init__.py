"""The jar by which Spark finds sparkext; no part of the package."""
