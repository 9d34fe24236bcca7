"""Recognition of result files by content, and notes around JSON."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from fio_json import drive

from tameshi.calibrate.documents import is_results
from tameshi.core.errors import BadInput
from tameshi.fio.documents import documents_of
from tameshi.fio.json import last_state

FIO = json.dumps(drive(), indent=2)


@pytest.mark.parametrize(
    ("name", "content", "are"),
    [
        ("fio.out", FIO.encode(), True),
        ("fio", b"fio: a note\n" + FIO.encode(), True),
        ("cut", b'\n{"a": "' + "é".encode() * 600, True),
        ("any.json", b"", True),
        ("data.db", b"SQLite format 3\0", False),
        ("notes.txt", b"dear to me {", False),
        ("tameshi-disk.dat", b"{" + bytes(range(256)) * 16, False),
        ("empty", b"", False),
    ],
)
def test_results_are_recognised_by_content_not_name(tmp_path, name, content, are):
    (tmp_path / name).write_bytes(content)
    assert is_results(tmp_path / name) == are


def test_special_file_is_a_target(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for target in (tmp_path / "pipe", tmp_path / "absent", tmp_path, Path("/dev/zero")):
        assert not is_results(target)


@pytest.mark.parametrize(
    "text",
    [
        f"fio: a note with {{braces}}\n{FIO}\n",
        f"{FIO}\nfio: bye {{all}}\n",
        f"\n\n  {FIO}",
    ],
)
def test_notes_around_json_are_skipped(tmp_path, text):
    (tmp_path / "fio.json").write_text(text)
    assert documents_of(tmp_path / "fio.json") == [json.loads(FIO)]


@pytest.mark.parametrize("between", ["", "\n", "\nfio: a note\n"])
def test_every_document_in_file_is_read(tmp_path, between):
    (tmp_path / "fio.json").write_text('{"a": 1}' + between + '{"b": 2}')
    assert documents_of(tmp_path / "fio.json") == [{"a": 1}, {"b": 2}]


def test_json_error_has_place_in_file(tmp_path):
    (tmp_path / "fio.json").write_text("a note\nanother\n{\n  nothing\n}")
    with pytest.raises(BadInput) as caught:
        documents_of(tmp_path / "fio.json")
    assert "line 4 column 3" in caught.value.found


@pytest.mark.parametrize("until", ["1741", '"job', '"a\\', "tru", "", ","])
def test_jt_cut_off_file_says_where_it_ends(tmp_path, until):
    text = 'fio: a note\n{\n "job": {"é": [1, 2], "job_start": '
    text = text + until if until != "," else text + "1,"
    (tmp_path / "fio.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=f"cut off at byte {len(text.encode())}, in line 3"):
        documents_of(tmp_path / "fio.json")


def state(written_s: float, elapsed: int, count: int) -> dict[str, Any]:
    """Return fio's output at a time, with one job."""
    document = drive()
    done = document["jobs"][0]["read"] | {"total_ios": count}
    job = document["jobs"][0] | {"elapsed": elapsed, "read": done}
    return document | {"timestamp_ms": written_s * 1000, "jobs": [job]}


def test_last_state_of_one_run_is_used():
    states = [state(100.6, 1, 10), state(101.6, 2, 20), state(101.9, 2, 22)]
    assert last_state(Path("fio.json"), states) is states[-1]


@pytest.mark.parametrize(
    "second",
    [
        state(111.9, 10, 120),
        state(101.0, 10, 90),
        {key: value for key, value in state(101.0, 10, 120).items() if key != "timestamp_ms"},
        state(101.0, 10, 120) | {"jobs": drive()["jobs"]},
    ],
    ids=["began later", "did less", "tells no time", "other jobs"],
)
def test_documents_of_several_runs_are_refused_with_first(second):
    with pytest.raises(BadInput, match="several runs of fio") as caught:
        last_state(Path("fio.json"), [state(100.6, 10, 100), second])
    assert caught.value.found.startswith("document 2 of 2")
