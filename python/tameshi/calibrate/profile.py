"""Fitted device as a profile file: every value with its unit and source."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tameshi.calibrate.fit import Estimated, Fitted

UNDETERMINED = "not determined by the measurement"
OTHERS = ""
"""Key of the source of undetermined values without a source of their own."""


def profile_text(fitted: Fitted, description: str, basis: str, outside: str) -> str:
    """Return the profile as TOML.

    `basis` names the measurements; `outside` the source of undetermined values.
    """
    estimates = {each.parameter.key: each for each in fitted.estimates}
    table = fitted.model.build(fitted.values)
    lines = [f"description = {_text(description)}", ""]
    sources = {OTHERS: f"{UNDETERMINED}; {outside}", **fitted.model.sources}
    lines += _table(["device", fitted.model.kind], table, estimates, basis, sources)
    return "\n".join(lines).rstrip() + "\n"


def _table(
    path: list[str],
    table: Mapping[str, Any],
    estimates: Mapping[str, Estimated],
    basis: str,
    sources: Mapping[str, str],
) -> Iterator[str]:
    leaves = {key: value for key, value in table.items() if isinstance(value, tuple)}
    yield f"[{'.'.join(path)}]"
    for key, (value, parameter) in leaves.items():
        yield f"{key} = {{ {_leaf(key, value, parameter, estimates, basis, sources)} }}"
    yield ""
    for key, value in table.items():
        if key not in leaves:
            yield from _table([*path, key], value, estimates, basis, sources)


def _leaf(
    key: str,
    value: Any,
    parameter: str,
    estimates: Mapping[str, Estimated],
    basis: str,
    sources: Mapping[str, str],
) -> str:
    said = f"value = {_value(value)}, source = "
    estimate = estimates.get(parameter)
    if not parameter:
        return said + _text(sources.get(key, sources[OTHERS]))
    if estimate is None:
        return said + f"{_text('chosen by the fit among others')}, fitted_on = {_text(basis)}"
    percent = f"± {100 * estimate.error:.2g} %" if estimate.error < 1 else "by no means sure"
    source = f"fitted, {percent}" if estimate.determined else f"{UNDETERMINED}: fitted, {percent}"
    return said + f"{_text(source)}, fitted_on = {_text(basis)}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return "[" + ", ".join(_value(each) for each in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + " }"
    return _text(str(value))


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
