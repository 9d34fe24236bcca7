"""Results of fio, sysbench, pgbench and tpcc-mysql: figures, and what each can't tell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from layouts import TPCC_MYSQL, mismatch

from tameshi.archives import Archive, read_archive
from tameshi.core.errors import BadInput

SAMPLES = Path(__file__).parent / "samples"
MS = 1e6


def read(name: str) -> Archive:
    return read_archive(SAMPLES / name)


def figures(archive: Archive, phase: int = 0, run: int = 0) -> dict[tuple[str, str], float]:
    return {(f.subject, f.metric): f.value for f in archive.repetitions[run][phase].figures}


def test_fio_job_has_its_stream_and_figures() -> None:
    archive = read("fio_randread.json")
    (side,) = [
        job["read"] for job in json.loads((SAMPLES / "fio_randread.json").read_text())["jobs"]
    ]
    (phase,) = archive.repetitions[0]
    assert archive.title == "fio 3.33" and not archive.notes
    found = figures(archive)
    assert found["randread", "read.iops"] == side["iops"]
    assert found["randread", "read.latency.mean"] == side["lat_ns"]["mean"]
    assert found["randread", "read.latency.p99"] == side["clat_ns"]["percentile"]["99.000000"]
    assert found["randread", "read.latency.max"] == side["lat_ns"]["max"]
    assert not [key for key in found if key[1].startswith("write")]
    (stream,) = phase.streams
    assert stream["stream"]["queue_depth"] == 4 and stream["stream"]["block_size"] == "4 KiB"
    assert phase.size_bytes == 16 << 20


def test_fio_groups_become_phases_with_commits() -> None:
    archive = read("fio_groups.json")
    log, mixed = archive.repetitions[0]
    assert (log.name, mixed.name) == ("log", "mixed")
    assert {s["name"] for s in mixed.streams} == {"mixed", "side"}
    commits = figures(archive)
    assert commits["log", "commit.rate"] == commits["log", "sync.rate"]
    assert commits["log", "commit.latency.mean"] == pytest.approx(
        commits["log", "write.latency.mean"] + commits["log", "sync.latency.mean"]
    )


def test_percentiles_of_clones_come_from_histograms_alone(tmp_path) -> None:
    document = json.loads((SAMPLES / "fio_groups.json").read_text())
    exact = figures(read("fio_groups.json"), phase=1)
    assert ("mixed", "read.latency.p50") in exact
    for job in document["jobs"]:
        job["read"]["clat_ns"].pop("bins", None)
    plain = tmp_path / "plain.json"
    plain.write_text(json.dumps(document))
    left = figures(read_archive(plain), phase=1)
    assert ("mixed", "read.latency.p50") not in left
    assert left["mixed", "read.latency.mean"] == exact["mixed", "read.latency.mean"]
    assert ("side", "read.latency.p50") in left


def test_fio_option_without_a_stream_is_noted(tmp_path) -> None:
    document = json.loads((SAMPLES / "fio_randread.json").read_text())
    document["jobs"][0]["job options"]["ioscheduler_of_the_moon"] = "1"
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(document))
    archive = read_archive(path)
    assert archive.repetitions[0][0].streams
    assert any("ioscheduler_of_the_moon=1" in note for note in archive.notes)


def test_fio_rate_that_contradicts_its_count_is_left_out(tmp_path) -> None:
    document = json.loads((SAMPLES / "fio_groups.json").read_text())
    document["jobs"][0]["write"]["iops"] *= 1000
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(document))
    archive = read_archive(path)
    assert [phase.name for phase in archive.repetitions[0]] == ["mixed"]
    assert archive.notes == ["job log: left out, its rate contradicts its count and time"]


def test_fio_through_the_page_cache_keeps_its_stream(tmp_path) -> None:
    document = json.loads((SAMPLES / "fio_randread.json").read_text())
    options = document["jobs"][0]["job options"]
    options.pop("direct", None)
    document.get("global options", {}).pop("direct", None)
    path = tmp_path / "buffered.json"
    path.write_text(json.dumps(document))
    archive = read_archive(path)
    assert archive.repetitions[0][0].streams[0]["stream"]["access"] == "buffered"
    assert not archive.notes


def test_sysbench_of_a_database_has_rates_and_steps() -> None:
    archive = read("sysbench_oltp.txt")
    found = figures(archive)
    assert found["oltp", "transaction.rate"] == 100.02
    assert found["oltp", "statement.rate"] == 2115.69
    assert found["oltp", "transaction.failure_rate"] == pytest.approx(37 / 5.6946)
    assert found["oltp", "transaction.latency.mean"] == 39.91 * MS
    assert found["oltp", "transaction.latency.p95"] == 12.3 * MS
    assert ("oltp", "transaction.latency.p99") not in found
    assert archive.settings["threads"] == "4"
    assert len(archive.repetitions[0][0].steps) == 5
    assert figures(read("sysbench_select.txt"))["oltp", "transaction.latency.p99"] > 0


def test_sysbench_of_files_has_latencies_of_one_kind_only() -> None:
    mixed = figures(read("sysbench_fileio.txt"))
    assert mixed["fileio", "read.iops"] == 20626.01
    assert mixed["fileio", "write.bandwidth"] == pytest.approx(214.85 * 2**20)
    assert not [metric for _, metric in mixed if "latency" in metric]
    reads = figures(read("sysbench_fileio_rd.txt"))
    assert ("fileio", "read.latency.max") in reads


def test_pgbench_script_becomes_a_program() -> None:
    archive = read("pgbench.txt")
    (phase,) = archive.repetitions[0]
    found = figures(archive)
    assert found["pgbench", "transaction.rate"] == 865.747032
    assert found["pgbench", "transaction.latency.mean"] == 4.612 * MS
    assert phase.programs == [{"pgbench": {"mix": "tpcb_like", "clients": 4, "scale": 2}}]
    assert phase.steps[0].counters["pgbench", "transaction.count"] == 914.9
    for unknown in ("pgbench_rate.txt", "pgbench_mix.txt"):
        assert not read(unknown).repetitions[0][0].programs


def test_tpcc_mysql_has_tpmc_and_types() -> None:
    text = (SAMPLES / "tpcc_mysql.txt").read_text()
    assert mismatch(TPCC_MYSQL, text) == ""
    archive = read("tpcc_mysql.txt")
    found = figures(archive)
    assert found["tpcc.new_order", "transaction.tpmc"] == 3000
    assert found["tpcc.new_order", "transaction.rate"] == 50
    assert found["tpcc", "transaction.rate"] == 115
    assert found["tpcc", "transaction.failure_rate"] == pytest.approx(0.2)
    assert found["tpcc", "transaction.latency.mean"] == pytest.approx(54000 / 3450 * MS)
    assert found["tpcc.delivery", "transaction.latency.max"] == 443.955 * MS
    (program,) = archive.repetitions[0][0].programs
    known = {"warehouses": 10, "clients": 2, "manner": "tpcc-mysql"}
    assert known.items() <= program["tpcc"].items()


TEXTS = sorted(path.name for path in SAMPLES.glob("*") if path.name != "sysbench_cpu.txt")


@pytest.mark.parametrize("name", TEXTS)
def test_archive_cut_anywhere_is_read_or_refused(name: str, tmp_path) -> None:
    content = (SAMPLES / name).read_bytes()
    whole = figures(read(name))
    for part in range(1, 40):
        path = tmp_path / f"{part}-{name}"
        path.write_bytes(content[: len(content) * part // 40])
        try:
            cut = figures(read_archive(path))
        except BadInput as refused:
            assert refused.where and refused.message
            continue
        # Only what follows the last figure may be missing.
        assert cut.items() <= whole.items() and set(cut) & set(whole)


BAD = {
    "cpu": (SAMPLES / "sysbench_cpu.txt", "measures no storage and no database"),
    "empty": (b"", "this file is empty"),
    "unknown": (b"hello\nworld\n", "not the result of a known tool"),
    "binary": (b"\xff\x00\x01", "no text in UTF-8"),
    "fio's text": (b"Run status group 0 (all jobs):\n", "rounds its figures"),
    "newer fio": (b'{"fio version": "fio-4.0", "jobs": []}', "a newer version of fio"),
    "newer sysbench": (b"sysbench 2.0.1 (using x)\n", "a newer version of sysbench"),
    "older sysbench": (b"sysbench 0.5:  multi-threaded\n", "an old sysbench"),
    "newer pgbench": (b"pgbench (31.1)\n", "a newer version of pgbench"),
    "own": (b'{"schema_version": 2, "cells": []}', "results of Tameshi itself"),
    "other JSON": (b'{"a": 1}', "this JSON is not fio's"),
    "cut fio": (b'{"fio version": "fio-3.33", "jobs": [{"jobna', "cut off at byte"),
    "cut pgbench": (b"transaction type: <builtin: select only>\n", "the file was cut off"),
    "nothing done": (b'{"fio version": "fio-3.33", "jobs": []}', "no job here has figures"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_archive_is_refused_with_place_and_remedy(case: str, tmp_path) -> None:
    given, words = BAD[case]
    path = given
    if isinstance(given, bytes):
        path = tmp_path / "archive"
        path.write_bytes(given)
    with pytest.raises(BadInput) as refused:
        read_archive(path)
    assert words in str(refused.value)
    assert str(path) in refused.value.where
    assert refused.value.accepted or refused.value.hint or refused.value.found


def test_folder_and_missing_file_are_refused(tmp_path) -> None:
    for path, words in ((tmp_path, "an archive is a file"), (tmp_path / "no", "cannot be read")):
        with pytest.raises(BadInput, match=words):
            read_archive(path)
