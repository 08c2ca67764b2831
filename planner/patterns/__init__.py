"""Patterns, and the queries that have them."""
