"""What people use without trend queries: the same results in Spark SQL, in pandas functions on Spark, and in DuckDB.

All answer trends of ``A B+ C`` in windows that slide, for one or several choices of the three types.
"""
