"""What ``make demo`` and the notebook run. Not part of the installed package."""
