"""What runs on executors: kernels over Arrow batches.

The package imports numpy, pyarrow, numba and the dataclasses of `planner.kernel_plan`, nothing else.
"""
