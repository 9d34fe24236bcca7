"""Changes of a study's settings in place of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tameshi.core.errors import BadInput


def changed(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with changes merged in, as a level of an axis is.

    Tables are merged, other values replaced; None removes a key. A key with dots is a place.
    """
    result = dict(settings)
    for place, value in changes.items():
        key, _, rest = place.partition(".")
        if not key or place.endswith("."):
            accepted = ["keys joined by dots, as in engine.mysql.buffer_pool"]
            raise BadInput("this is no place in a study", found=place, accepted=accepted)
        given = {rest: value} if rest else value
        if given is None:
            result.pop(key, None)
        elif isinstance(given, Mapping):
            before = result.get(key)
            result[key] = changed(before if isinstance(before, Mapping) else {}, given)
        else:
            result[key] = list(given) if isinstance(given, tuple) else given
    return result
