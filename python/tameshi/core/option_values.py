"""Option values with units."""

from __future__ import annotations

from collections.abc import Callable

from tameshi.core import compiled
from tameshi.core.errors import BadInput, TameshiError

SIZES = "a number and B, KB, MB, GB, TB, KiB, MiB, GiB or TiB, such as 1.5 GB"
TIMES = "a number and ns, us, ms, s, min or h, such as 1.5 ms"


def size_of(option: str, text: str) -> int:
    """Parse a size in bytes; raise `BadInput` that names the option."""
    return _quantity(option, text, compiled.size_bytes, SIZES)


def time_of(option: str, text: str) -> int:
    """Parse a time in ns; raise `BadInput` that names the option."""
    return _quantity(option, text, compiled.nanoseconds, TIMES)


def _quantity(option: str, text: str, read: Callable[[str], int], accepted: str) -> int:
    try:
        value = read(text)
    except TameshiError as error:
        raise BadInput(error.message, where=option, found=text, accepted=[accepted]) from None
    if value <= 0:
        raise BadInput("this must be above zero", where=option, found=text)
    return value
