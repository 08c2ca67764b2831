"""Patterns, automata, templates and sharing plans of pooled trend queries.

The way of a query through this package is one-way::

    lexemes -> pattern -> automaton -> template -> sharing plan -> kernel plan

Nothing here knows of Spark: the package imports neither pyspark nor what else is in sparkext.
"""
