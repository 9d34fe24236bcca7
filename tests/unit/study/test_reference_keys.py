"""Reference of keys and metrics: places, types, entries by name, suggestions."""

import json
from pathlib import Path

import pytest

from tameshi.core.errors import BadInput
from tameshi.study.explain import explain, names
from tameshi.study.reference import FORMS, keys, kind, plain, read_schema


def test_every_key_of_the_reference_has_an_entry(root: Path) -> None:
    """The pages of docs/reference and the terminal have the same keys."""
    for form in FORMS:
        schema = read_schema(form)
        found = {(key.table, key.name) for key in keys(form, schema)}
        tables = {schema["title"]: schema, **schema["$defs"]}
        listed = {
            (name, key) for name, table in tables.items() for key in table.get("properties", ())
        }
        assert listed <= found, form


def test_key_has_its_place_with_names_of_the_user() -> None:
    places = {
        (key.table, key.name): [".".join(place) for place in key.places]
        for key in keys("study", read_schema("study"))
    }
    assert places["Engine", "buffer_pool"] == [
        f"engine.{name}.buffer_pool" for name in ("mysql", "mariadb", "postgresql", "sqlite")
    ]
    assert places["Stack", "size"][0] == "storage.NAME.size"
    assert places["Arrivals.poisson", "rate"] == ["workload.stream.NAME.arrivals.poisson.rate"]
    assert places["Published", "id"] == ["published.id"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"$ref": "#/$defs/Size"}, "Size"),
        ({"anyOf": [{"$ref": "#/$defs/Size"}, {"type": "null"}]}, "Size"),
        ({"type": "array", "items": {"type": "string"}}, "list of string"),
        ({"const": "direct"}, '`"direct"`'),
        (True, "any"),
    ],
)
def test_kind_of_a_value_is_in_words(value: object, words: str) -> None:
    assert kind(value, plain) == words


def test_metric_is_explained_from_the_registry(root: Path) -> None:
    registry = json.loads((root / "docs/reference/metrics.json").read_text(encoding="utf-8"))
    for metric in registry:
        entry = explain(metric["name"])[0]
        assert (entry.kind, entry.facts["meaning"]) == ("metric", metric["en"])
        assert entry.facts["unit"] == metric["unit"]


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("buffer_pool", "engine.mysql.buffer_pool"),
        ("sqlite.buffer_pool", "engine.sqlite.buffer_pool"),
        ("workload.tpcc.clients", "workload.tpcc.clients"),
        ("storage.my_disk.size", "storage.NAME.size"),
        ("axis", "axis"),
    ],
)
def test_key_is_found_by_name_or_place(word: str, place: str) -> None:
    assert explain(word)[0].facts["place"] == place


def test_whole_place_names_one_key_alone() -> None:
    assert len(explain("clients")) > 3
    assert [entry.facts["place"] for entry in explain("workload.tpcc.clients")] == [
        "workload.tpcc.clients"
    ]


def test_entry_lists_choices_of_its_type() -> None:
    (entry,) = explain("workload.stream.reader.arrivals")
    assert entry.facts["default"] == '"closed"'
    assert entry.parts['"closed"'].startswith("Closed loop")


@pytest.mark.parametrize(
    ("word", "near"), [("buffer_pol", "buffer_pool"), ("read.latency.p98", "read.latency.p99")]
)
def test_unknown_word_is_refused_with_names_like_it(word: str, near: str) -> None:
    with pytest.raises(BadInput) as refused:
        explain(word)
    assert near in refused.value.accepted and refused.value.found == word


def test_every_name_is_explained() -> None:
    assert {"read.iops", "buffer_pool", "levels"} <= set(names())
    for name in names():
        assert explain(name)
