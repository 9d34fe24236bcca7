"""Concurrent sections, repeated sections, and jobs of one server."""

from pathlib import Path
from typing import Any

import pytest
from fio_json import job, results

from tameshi.calibrate.fio_cells import read_fio
from tameshi.core.errors import BadInput
from tameshi.core.reasons import reason

FILE = Path("fio.json")


def timed(each: dict[str, Any], group: int, runtime_ms: int = 1000, elapsed: int = 9):
    """Return a job in a group, with its runtime and that of fio's whole run."""
    kinds = {kind: each[kind] | {"runtime": runtime_ms} for kind in ("read", "write")}
    return each | kinds | {"groupid": group, "elapsed": elapsed}


def test_concurrent_sections_of_group_are_left_out():
    jobs = [timed(job("randread", depth, depth * 1e4), 0) for depth in (1, 2)]
    alone = timed(job("randread", 4, 4e4), 1)
    found = read_fio(FILE, results(*jobs, alone))
    assert [cell.name for cell in found.cells] == ["randread-4k-4"]
    assert found.left_out == [
        reason("shared_group", "randread-4k-1", sections="randread-4k-2"),
        reason("shared_group", "randread-4k-2", sections="randread-4k-1"),
    ]


def test_clones_of_one_section_are_one_cell():
    clone = timed(job("randread", 1, 1e4, numjobs="2"), 0)
    (cell,) = read_fio(FILE, results(clone, clone)).cells
    assert cell.depth == 2
    assert cell.rate == pytest.approx(2e4)


@pytest.mark.parametrize(("elapsed", "refused"), [(3, False), (2, True)])
def test_concurrent_groups_are_refused(elapsed, refused):
    jobs = [timed(job("randread", d, d * 1e4), d, 1001, elapsed) for d in (1, 2)]
    jobs += [timed(job("randread", 4, 4e4, numjobs="2"), 4, 990, elapsed)] * 2
    document = results(*jobs)
    if not refused:
        assert len(read_fio(FILE, document).cells) == 3
        return
    with pytest.raises(BadInput, match="ran concurrently") as caught:
        read_fio(FILE, document)
    assert caught.value.key == "jobs.elapsed"
    assert caught.value.found == "3.0 s of 3 groups in 2 s"


def test_repeated_section_is_one_cell_with_mean():
    jobs = [timed(job("randread", 2, rate), at) for at, rate in enumerate((1e4, 3e4))]
    (cell,) = read_fio(FILE, results(*jobs)).cells
    assert cell.rate == pytest.approx(2e4)
    assert cell.outstanding == pytest.approx(2.0, rel=0.01)
    assert cell.operations["read"].quantile(0.5) == pytest.approx(1e5, rel=0.01)


def test_equal_concurrent_sections_are_left_out():
    alike = timed(job("randread", 1, 1e4), 0)
    found = read_fio(FILE, results(alike, alike, timed(job("randread", 4, 4e4), 1)))
    assert found.left_out == [reason("clones_mismatch", "randread-4k-1", shown=2, clones=1)]


def of_clients(*hosts: str) -> dict[str, Any]:
    """Return the output of `fio --client`: with the sum of all jobs at the end."""
    jobs = [
        timed(job("randread", depth, depth * 1e4), at) | {"hostname": host, "port": 8765}
        for at, (depth, host) in enumerate(zip((1, 2, 4), hosts, strict=True))
    ]
    total = {key: value for key, value in jobs[0].items() if key != "job options"}
    document = results() | {"client_stats": [*jobs, total | {"jobname": "All clients"}]}
    del document["jobs"]
    return document


def test_jobs_of_one_server_read_as_local_jobs():
    found = read_fio(FILE, of_clients("a", "a", "a"))
    assert [cell.depth for cell in found.cells] == [1, 2, 4]
    assert not found.left_out


def test_jobs_of_several_servers_are_refused_with_names():
    with pytest.raises(BadInput, match="several fio servers") as caught:
        read_fio(FILE, of_clients("a", "b", "a"))
    assert caught.value.key == "client_stats"
    assert caught.value.found == "a:8765, b:8765"


def test_sections_merged_by_group_reporting_are_left_out():
    """fio 3.33 has one entry for two clones and another section, with the other's options."""
    total = timed(job("randread", 1, 3e4, group_reporting="1"), 0)
    clones = timed(job("randread", 2, 4e4, group_reporting="1", numjobs="2"), 1)
    total["job_runtime"], clones["job_runtime"] = 3010, 2005
    found = read_fio(FILE, results(total, clones))
    assert [cell.name for cell in found.cells] == ["randread-4k-2"]
    assert found.left_out == [reason("clones_grouped", "randread-4k-1", shown=3, clones=1)]
