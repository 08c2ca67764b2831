"""The arrays that a kernel works with, from event to event."""
