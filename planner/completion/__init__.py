"""Rule 6, completion: the search for what the published rules cannot see."""
