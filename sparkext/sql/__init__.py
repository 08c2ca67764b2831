"""From the text of a statement to its clauses; nothing here knows of Spark."""
