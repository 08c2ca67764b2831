"""The arrays of a plan and of a run, made before a kernel is called."""
