"""Cost models, and the statistics of events that they go by."""
