"""Events of a task in the order that kernels want, in bounded memory."""
