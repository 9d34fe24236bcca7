"""The commands, a module each with its `app`; `cli.py` imports the one that is asked for."""
