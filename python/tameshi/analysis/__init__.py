"""Estimates, findings and results.json from sealed runs."""
