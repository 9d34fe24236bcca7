"""Tameshi: the proving ground for storage under databases."""
