"""SHARON: sequences share contiguous parts, chosen as a maximum weight independent set."""
