"""Schema of studies for editors: it accepts what the planner accepts, and finds wrong keys."""

import json
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tameshi.core.data import STUDY_SCHEMA
from tameshi.study.file import read_study, ready_names

SCHEMA = json.loads(STUDY_SCHEMA.read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


@pytest.mark.parametrize("name", ready_names())
def test_ready_study_is_valid_for_editors(name: str) -> None:
    settings = tomllib.loads(read_study(Path(name)).text)
    assert [error.message for error in VALIDATOR.iter_errors(settings)] == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('titel = "A"', "$"),
        ("[run]\nrepetition = 3", "$.run"),
        ("[engine.mysql]\nbuffer_pol = '1 GiB'", "$.engine.mysql"),
        ("[workload.tpcc]\nwarehuses = 1", "$.workload.tpcc"),
        ("[run]\nrepetitions = 'three'", "$.run.repetitions"),
    ],
)
def test_wrong_key_or_value_is_found_by_editors(text: str, place: str) -> None:
    errors = VALIDATOR.iter_errors(tomllib.loads(text))
    assert [error.json_path for error in errors] == [place]


def test_keys_have_their_meaning_and_schema_is_valid() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    described = [key for key in SCHEMA["properties"].values() if key.get("description")]
    assert len(described) == len(SCHEMA["properties"])
