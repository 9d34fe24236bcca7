"""Foundations: the compiled module, errors, reasons as data, generated types, package data."""
