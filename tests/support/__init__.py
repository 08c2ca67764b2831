"""Truths, twins, random workloads, and what tests have in common."""
