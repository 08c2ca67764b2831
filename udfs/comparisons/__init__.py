"""Compiled structures for conditions on the event before."""
