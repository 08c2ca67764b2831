"""Matches that are built from events, step by step, and then aggregated."""
