"""Guard's decisions on data directories of servers; docs/guard.md names these tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from disks import blank, run

from tameshi import guard
from tameshi.core.errors import BadInput, GuardRefusal

SIZE = 1 << 20


@pytest.fixture
def others(tmp_path: Path) -> Path:
    """Make a foreign database."""
    folder = tmp_path / "others"
    (folder / "db").mkdir(parents=True)
    (folder / "db" / "table").write_text("customers")
    (folder / "log").symlink_to("/var/log")
    return folder


def check(path: Path, *destroy: object) -> guard.DirectoryPlan:
    return guard.check_data_directory(path, SIZE, [str(name) for name in destroy])


def assert_refused(path: Path, found: str) -> None:
    """Assert that a named directory is refused and unchanged."""
    before = sorted(os.listdir(path))
    with pytest.raises(GuardRefusal, match=found):
        check(path, path)
    assert sorted(os.listdir(path)) == before


def test_a_data_directory_that_does_not_exist_is_made_and_marked(tmp_path: Path) -> None:
    plan = check(tmp_path / "new")
    assert (plan.action, list(tmp_path.iterdir())) == ("create", [])
    inside = guard.claim_data_directory(plan)
    assert inside == tmp_path / "new" / "data"
    assert os.listdir(inside) == []
    assert sorted(os.listdir(tmp_path / "new")) == [guard.MARKER, "data"]
    assert plan.described() == [f"a data directory of 1.0 MiB, new: {tmp_path / 'new'}"]


def test_an_empty_directory_becomes_a_data_directory(tmp_path: Path) -> None:
    plan = check(tmp_path)
    assert plan.action == "claim"
    assert guard.claim_data_directory(plan) == tmp_path / "data"


def test_a_marked_data_directory_is_used_again_as_it_is(tmp_path: Path) -> None:
    inside = guard.claim_data_directory(check(tmp_path))
    (inside / "table").write_text("rows")
    plan = check(tmp_path)
    assert plan.action == "reuse"
    assert (guard.claim_data_directory(plan) / "table").read_text() == "rows"


def test_a_marked_data_directory_is_emptied(tmp_path: Path, others: Path) -> None:
    inside = guard.claim_data_directory(check(tmp_path / "own"))
    (inside / "table").write_text("rows")
    (inside / "link").symlink_to(others)
    assert os.listdir(guard.empty_data_directory(tmp_path / "own")) == []
    assert (others / "db" / "table").read_text() == "customers"
    with (inside / "table").open("w"), pytest.raises(GuardRefusal, match="has this file open"):
        guard.empty_data_directory(tmp_path / "own")


def test_a_directory_without_the_marker_is_not_emptied(others: Path) -> None:
    with pytest.raises(GuardRefusal, match="without Tameshi's marker"):
        guard.empty_data_directory(others)
    assert (others / "db" / "table").read_text() == "customers"


def test_foreign_directory_is_refused_unless_named_exactly(tmp_path: Path, others: Path) -> None:
    (tmp_path / "link").symlink_to(others)
    for names in ([], [tmp_path], [others / "db"], [tmp_path / "link"]):
        for path in (others, tmp_path / "link"):
            with pytest.raises(GuardRefusal, match="without Tameshi's marker") as caught:
                check(path, *names)
            assert f"--destroy {others}, if its content may be destroyed" in caught.value.accepted
    assert (others / "db" / "table").read_text() == "customers"


def test_a_foreign_directory_that_is_named_is_cleared_and_marked(
    tmp_path: Path, others: Path
) -> None:
    plan = check(others, others)
    assert plan.described() == [
        f"destroys everything in {others}",
        "  found: a directory with 2 entries",
    ]
    assert (others / "db" / "table").exists()
    inside = guard.claim_data_directory(plan)
    assert sorted(os.listdir(others)) == [guard.MARKER, "data"]
    (inside / "table").write_text("rows")
    assert (guard.claim_data_directory(plan) / "table").read_text() == "rows"
    assert os.listdir("/var/log")


def test_a_named_directory_in_which_something_is_open_is_refused(others: Path) -> None:
    plan = check(others, others)
    with (others / "db" / "table").open("r+"):
        assert_refused(others, "has this file open")
        with pytest.raises(GuardRefusal, match="has this file open"):
            guard.claim_data_directory(plan)
    assert (others / "db" / "table").read_text() == "customers"


@pytest.mark.parametrize("name", ["/", "/etc", "/usr/lib", "/var/lib", "/var", "/tmp", "~"])
def test_a_directory_of_the_systems_is_never_cleared(name: str) -> None:
    path = Path(os.path.realpath(os.path.expanduser(name)))
    assert_refused(path, "does not claim or delete|without Tameshi's marker")


@pytest.mark.parametrize("inside", [False, True])
def test_a_directory_with_a_mount_is_never_cleared(
    tmp_path: Path,
    attach: Callable[..., Path],
    mounted: Callable[[Path], Path],
    inside: bool,
) -> None:
    node = attach(blank(tmp_path / "disk.img"))
    run("mkfs.ext4", "-q", node)
    point = mounted(node)
    assert_refused(tmp_path if inside else point, "a file system mounted at")


def test_a_named_directory_with_a_false_marker_is_refused(others: Path) -> None:
    (others / guard.MARKER).write_text("mine, all mine")
    assert_refused(others, "that Tameshi did not write")


@pytest.mark.parametrize("named", [False, True])
def test_a_data_directory_exchanged_meanwhile_is_refused(others: Path, named: bool) -> None:
    path = others if named else others.parent / "empty"
    path.mkdir(exist_ok=True)
    plan = check(path, path)
    path.rename(path.with_name("old"))
    path.mkdir()
    (path / "thesis").write_text("years of work")
    with pytest.raises(GuardRefusal):
        guard.claim_data_directory(plan)
    assert os.listdir(path) == ["thesis"]


def test_a_data_directory_filled_meanwhile_is_refused(tmp_path: Path) -> None:
    plan = check(tmp_path)
    (tmp_path / "thesis").write_text("years of work")
    with pytest.raises(GuardRefusal, match="holds files that Tameshi did not make"):
        guard.claim_data_directory(plan)
    assert os.listdir(tmp_path) == ["thesis"]


def test_a_data_directory_in_a_missing_directory_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such directory"):
        check(tmp_path / "typo" / "data")
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match="no such directory"):
        check(tmp_path / "file")
    with pytest.raises(GuardRefusal, match="file system of the kernel"):
        check(Path("/proc/tameshi"))


def test_a_data_directory_opens_empty_for_each_run(tmp_path: Path) -> None:
    plan = check(tmp_path / "new")
    for _ in range(2):
        with guard.open_data_directory(plan, "files") as target:
            assert target.path == tmp_path / "new" / "data" and os.listdir(target.fd) == []
            assert (target.direct, target.data_offset, target.data_bytes) == (False, 0, SIZE)
            (target.path / "0").write_text("one run's")
    plan.remove()
    assert list(tmp_path.iterdir()) == []
