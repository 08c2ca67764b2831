"""Which totals a query needs, and what events add to them."""
