"""Spark's private classes."""
