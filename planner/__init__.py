"""Patterns, automata, templates and sharing plans of pooled trend queries.

The way of a query through this package is one-way::

    lexemes -> pattern -> automaton -> template -> sharing plan -> kernel plan

Nothing here knows of Spark: the package imports neither pyspark nor sparkext.
"""

PART_OF = "sparkext"
"""Tells this package from a module of the same name that a user may have."""
