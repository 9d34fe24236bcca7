"""Reference of study and profile files: every key with its place, type, default and meaning.

The schemas come from the Rust types. `scripts/generate.py` writes docs/reference from them, and
`tameshi explain` shows them.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tameshi.core import compiled

Schema = Mapping[str, Any]

FORMS = {
    "study": (
        "Study files",
        "Every key of a study file. An axis level, and `quick`, may set any of them.",
    ),
    "device_profile": ("Device profiles", "Every key of a profile in `profiles/devices/`."),
    "array_profile": (
        "Array profiles",
        "Every key of a profile in `profiles/arrays/`: a study's stack, values with sources.",
    ),
    "engine_profile": ("Engine profiles", "Every key of a profile in `profiles/engines/`."),
    "host_profile": ("Host profiles", "Every key of a profile in `profiles/hosts/`."),
}
"""Files that a user writes: title and first sentence of the page of each."""

NAME = "NAME"
"""Part of a place for a name that the user chooses."""
MOST_PLACES = 4
"""Places of one type that are followed: stacks of storages nest without end."""


UNIONS = ("oneOf", "anyOf", "allOf")
LABEL = "Scalar"
"""Type of a level's label."""


@dataclass(frozen=True)
class Key:
    """Key of a table, with the places of the table in its file, the shortest first."""

    form: str
    name: str
    places: tuple[tuple[str, ...], ...]
    table: str
    value: Schema
    required: bool


def read_schema(form: str) -> dict[str, Any]:
    """Return the schema of a file, with names of variants and types of sourced values."""
    return named(compiled.schema(form))


def for_editors(schema: Any, *, is_variant: bool = False) -> Any:
    """Return a schema that accepts a study as it is written.

    An axis may set what a table lacks, so only the tag of a variant is required. A label may be a
    number.
    """
    if isinstance(schema, list):
        return [for_editors(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    known: dict[str, Any] = {}
    for key, value in schema.items():
        if key in UNIONS:
            variants = [for_editors(each, is_variant=True) for each in value]
            # Without required keys a table may be of more than one variant.
            known["anyOf" if key == "oneOf" else key] = variants
        elif key == LABEL and value.get("type") == "string":
            known[key] = {**value, "type": ["string", "number", "boolean"]}
        elif key != "required" or is_variant:
            known[key] = for_editors(value)
    return known


def keys(form: str, schema: Schema) -> list[Key]:
    """Return every key of a file, tables in the order of their shortest place."""
    definitions = schema.get("$defs", {})
    found: dict[tuple[str, str], Key] = {}
    visits: dict[str, int] = {}
    todo: deque[tuple[str, Schema, tuple[str, ...]]] = deque([(schema["title"], schema, ())])
    while todo:
        table, of, place = todo.popleft()
        for name, value, required in _members(of):
            here = (*place, name)
            known = found.get((table, name))
            places = (*known.places, here) if known else (here,)
            found[table, name] = Key(form, name, places, table, value, required)
            for inner, more in _tables(value):
                if "$ref" in inner:
                    inner_name = inner["$ref"].rsplit("/", 1)[1]
                    visits[inner_name] = visits.get(inner_name, 0) + 1
                    if visits[inner_name] <= MOST_PLACES:
                        todo.append((inner_name, definitions[inner_name], (*here, *more)))
                else:
                    todo.append((f"{table}.{name}", inner, (*here, *more)))
    return list(found.values())


def _members(table: Schema) -> Iterator[tuple[str, Schema, bool]]:
    """Yield key, value and whether it is required, of a table or of the variants of a choice."""
    for name, value in table.get("properties", {}).items():
        yield name, value, name in table.get("required", ())
    for choice in table.get("oneOf", table.get("anyOf", ())):
        for name, value in choice.get("properties", {}).items():
            yield name, value if "description" in value else {**value, **_described(choice)}, False


def _described(choice: Schema) -> dict[str, Any]:
    return {"description": choice["description"]} if "description" in choice else {}


def _tables(value: Schema) -> Iterator[tuple[Schema, tuple[str, ...]]]:
    """Yield the tables that a value may be or hold, each with what its place has in addition."""
    if "$ref" in value:
        yield value, ()
    for union in ("anyOf", "oneOf", "allOf"):
        for choice in value.get(union, ()):
            yield from _tables(choice)
    if "properties" in value:
        yield value, ()
    if isinstance(value.get("items"), dict):
        yield from _tables(value["items"])
    extra = value.get("additionalProperties")
    if isinstance(extra, dict):
        yield from ((inner, (NAME, *more)) for inner, more in _tables(extra))


def type_of(value: Schema) -> str | None:
    """Return the name of the type that a value or each of its items has; None without one."""
    names = [table["$ref"].rsplit("/", 1)[1] for table, _ in _tables(value) if "$ref" in table]
    return names[0] if names else None


def choices(table: Schema) -> Iterator[tuple[str, str]]:
    """Yield each choice of a type, as written in a file, with its meaning."""
    for choice in table.get("oneOf", ()):
        yield kind(choice, plain), one_line(choice.get("description", ""))


def linked(name: str) -> str:
    """Return a type's name as a link to its section of the reference page."""
    return f"[{name}](#{name.lower()})"


def plain(name: str) -> str:
    """Return a type's name."""
    return name


def kind(value: Schema | bool, link: Callable[[str], str] = linked) -> str:
    """Return the type of a value in words; `link` marks up the name of a type."""
    if not isinstance(value, Mapping):
        return "any"
    if "$ref" in value:
        return link(value["$ref"].rsplit("/", 1)[1])
    if "const" in value:
        return f"`{json.dumps(value['const'])}`"
    for union in ("anyOf", "oneOf", "allOf"):
        if union in value:
            return " or ".join(
                dict.fromkeys(kind(v, link) for v in value[union] if v != {"type": "null"})
            )
    if "enum" in value:
        return " or ".join(f"`{json.dumps(choice)}`" for choice in value["enum"])
    types = value.get("type", "any")
    words = [word for word in ([types] if isinstance(types, str) else types) if word != "null"]
    if words == ["array"]:
        return f"list of {kind(value.get('items', {}), link)}"
    if words == ["object"]:
        return _object_kind(value, link)
    return " or ".join(words)


def _object_kind(value: Schema, link: Callable[[str], str]) -> str:
    """Return a table of named things, or a variant such as `{ zipf = … }`."""
    if properties := value.get("properties"):
        inner = "; ".join(f"`{key}` = {kind(v, link)}" for key, v in properties.items())
        return "{ " + inner + " }"
    extra = value.get("additionalProperties")
    return f"table of {kind(extra, link)} by name" if isinstance(extra, dict) and extra else "table"


def shown(default: Any) -> str:
    """Return a default as written in a file."""
    if default is None or default in ({}, []):
        return ""
    return f"`{json.dumps(default)}`" if not isinstance(default, dict) else ""


def one_line(text: str) -> str:
    """Return the text without line breaks."""
    return " ".join(text.split())


def named(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with names instead of numbers for variants and sourced values."""
    definitions = schema.get("$defs", {})
    renamed = {
        name: "Sourced" + _value_name(table["properties"]["value"])
        for name, table in definitions.items()
        if re.fullmatch(r"Sourced\d*", name)
    }
    schema = _with_references(
        schema, {f"#/$defs/{old}": f"#/$defs/{new}" for old, new in renamed.items()}
    )
    found = schema.get("$defs", {})
    schema["$defs"] = dict(
        sorted((renamed.get(name, name), table) for name, table in found.items())
    )
    for name, table in schema["$defs"].items():
        _title_variants(name, table, schema["$defs"].keys())
    return schema


def _value_name(value: dict[str, Any]) -> str:
    """Return the type of a sourced value in one word."""
    if "$ref" in value:
        return str(value["$ref"]).rsplit("/", 1)[1]
    if value.get("type") == "array":
        return _value_name(value["items"]) + "s"
    return _pascal(str(value.get("format") or value.get("type") or "value"))


def _pascal(word: str) -> str:
    """Return the word in the style of a type's name."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[_-]", word))


def _title_variants(name: str, table: dict[str, Any], names: Collection[str]) -> None:
    """Title each variant of an externally tagged enum: its type, then its tag."""
    for variant in table.get("oneOf", table.get("anyOf", [])):
        properties = variant.get("properties", {})
        if len(properties) == 1 and variant.get("required") == list(properties):
            (tag,) = properties
            variant.setdefault("title", name + _pascal(tag))
            if "$ref" not in properties[tag] and _pascal(tag) in names:
                properties[tag].setdefault("title", _pascal(tag) + name)


def _with_references(value: Any, names: Mapping[str, str]) -> Any:
    """Return the schema with other names of its definitions."""
    if isinstance(value, dict):
        return {
            key: names.get(of, of) if key == "$ref" else _with_references(of, names)
            for key, of in value.items()
        }
    return [_with_references(item, names) for item in value] if isinstance(value, list) else value
