"""`python -m tameshi` is the command line."""

from tameshi.cli import main

main()
