"""Values of options with their units."""

from __future__ import annotations

from collections.abc import Callable

from tameshi import _core
from tameshi.errors import BadInput, TameshiError


def size_of(option: str, text: str) -> int:
    """A size in bytes; raises `BadInput` that names the option."""
    return _quantity(option, text, _core.size_bytes)


def time_of(option: str, text: str) -> int:
    """A time in ns; raises `BadInput` that names the option."""
    return _quantity(option, text, _core.nanoseconds)


def _quantity(option: str, text: str, read: Callable[[str], int]) -> int:
    try:
        value = read(text)
    except TameshiError as error:
        raise BadInput(error.message, where=option, found=text) from None
    if value <= 0:
        raise BadInput("this must be above zero", where=option, found=text)
    return value
