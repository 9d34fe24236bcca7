"""Execution of a study: dispatcher, workers, sampler, and display."""
