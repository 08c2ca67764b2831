"""Arrow batches as flat arrays, and results as batches."""
