"""Pictures of sharing plans, made of the document of ``EXPLAIN SHARING JSON`` alone: neither Spark nor a network."""
