"""The contract with the workers: what kernels are told, and the columns in which they answer."""
