"""Where commands speak: results on standard output, all else on standard error."""

from rich.console import Console

OUT = Console(highlight=False)
ERR = Console(stderr=True, highlight=False)
