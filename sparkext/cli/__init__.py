"""The commands of ``sparkext``."""
