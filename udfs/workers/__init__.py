"""What a Python worker runs for a task."""
