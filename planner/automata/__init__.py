"""From a pattern to an automaton that accepts each trend by one run."""
