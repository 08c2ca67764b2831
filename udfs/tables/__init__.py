"""The tables that kernels work with: what they hold, and the names of their columns."""
