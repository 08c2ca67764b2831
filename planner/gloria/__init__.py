"""The GLORIA optimizer: which queries of a pool share which transitions, and through which snapshots.

After *GLORIA: Graph-based Sharing Optimizer for Event Trend Aggregation* (Ma, Lei, Poppe, Rundensteiner).
The way of a workload through this package is one-way::

    template, statistics -> problem -> GLORIA graph -> labels -> sharing plan
"""
