"""Sections of the report and the answer: tables and sentences as plain data."""
