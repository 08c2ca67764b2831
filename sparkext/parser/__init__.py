"""What Spark calls with statements: its parser, the rewriting of clauses, and commands of sparkext's own."""
