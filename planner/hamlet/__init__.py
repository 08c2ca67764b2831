"""HAMLET: queries that repeat the same events share them by bursts."""
