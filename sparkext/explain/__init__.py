"""What is shared, as text, JSON, graphs and pictures."""
