"""All that bends numba: how functions are compiled, linked, kept and interpreted."""
