"""Streams: events that are packed by bucket, the state of a bucket, and the windows that end in it."""
