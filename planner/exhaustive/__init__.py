"""Every plan there is, for small workloads."""
