"""Conditions on an event and the one before, and the structures that answer them."""
