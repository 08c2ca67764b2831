"""What runs on executors: kernels over Arrow batches.

The package imports numpy, pyarrow, numba and the dataclasses of `planner.kernel_plan`, nothing else.
"""

PART_OF = "sparkext"
"""Tells this package from a module of the same name that a user may have."""
