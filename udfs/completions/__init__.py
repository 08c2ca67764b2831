"""Completions: the events that end a trend, each with one trend that it ends."""
