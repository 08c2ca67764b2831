"""What a session holds: its queries, the pools that they are in, and the runs that compute them."""
