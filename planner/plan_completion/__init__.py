"""The completion of plans: the search, label by label, for what the rules of papers cannot see."""
