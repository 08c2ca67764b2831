"""From a kernel plan to rows: one pass over the source of a pool."""
