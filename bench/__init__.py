"""Benchmarks against a peer within the same run; not tests."""
