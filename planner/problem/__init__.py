"""The problem of all strategies: a template and its events, what plans of it cost, and what a strategy is."""
