"""Commands, one module with an `app` each; `cli.py` imports the requested one."""
