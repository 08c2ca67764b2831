"""From a clause and the types of Spark to a bound query."""
