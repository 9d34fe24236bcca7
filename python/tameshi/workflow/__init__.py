"""The way of a study from its file to results and report, for every command that runs one."""
