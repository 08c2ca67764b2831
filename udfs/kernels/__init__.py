"""Compiled loops over events, windows and forms."""
