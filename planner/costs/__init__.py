"""Statistics of events, and what a plan costs by them."""
