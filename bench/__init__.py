"""Benchmarks, each next to a peer in the same run; they are no tests."""
