"""Workflow from a study to results and report, for every command that runs one."""
