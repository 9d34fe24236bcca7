"""Values of a device profile with their sources."""

from collections.abc import Iterator
from typing import Any


def sourced(table: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return every value with its source in a profile."""
    if "value" in table:
        yield table
        return
    for below in table.values():
        if isinstance(below, dict):
            yield from sourced(below)
