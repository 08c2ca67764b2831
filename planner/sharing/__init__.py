"""The template of a pool, and which queries share what of it."""
