"""Counts, scaled doubles and order keys, and the totals that are made of them."""
