"""MCEP: shared plans that build the matches of patterns, to aggregate them afterwards."""
