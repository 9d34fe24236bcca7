"""Guard's decisions on foreign files named with --destroy; docs/guard.md names these tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import disks
import pytest
from disks import blank

from tameshi import guard
from tameshi.core.errors import BadInput, GuardRefusal

SIZE = 2 << 20
FOREIGN = b"someone's thesis\n" * 1000


@pytest.fixture
def thesis(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis").write_bytes(FOREIGN)
    return tmp_path / "folder" / "thesis"


def check(path: Path, *destroy: object, **options: guard.Machine) -> guard.TargetPlan:
    return guard.check_target(path, SIZE, "disk", [str(name) for name in destroy], **options)


def test_a_foreign_file_is_taken_over_if_it_is_named(thesis: Path) -> None:
    plan = check(thesis, thesis)
    assert plan.action == "overwrite"
    assert thesis.read_bytes() == FOREIGN
    assert plan.described() == [
        f"disk: destroys the file {thesis} ({plan.file_system})",
        "  found: a regular file of 16.6 KiB, no known content",
    ]
    with guard.open_target(plan, direct=False) as target:
        assert (target.data_offset, target.data_bytes) == (guard.DATA_OFFSET, SIZE)
        assert os.fstat(target.fd).st_size == guard.DATA_OFFSET + SIZE
        assert not target.laid_out
    assert b"thesis" not in thesis.read_bytes()
    assert check(thesis).action == "reuse"
    assert check(thesis, thesis).action == "reuse"
    guard.remove_target(thesis)


def test_a_foreign_file_may_be_named_relatively(
    thesis: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(thesis.parent)
    for name in ("thesis", "./thesis", "../folder/thesis"):
        assert check(thesis, name).action == "overwrite"


def test_a_foreign_file_is_refused_if_anything_else_is_named(thesis: Path) -> None:
    folder = thesis.parent
    (folder / "link").symlink_to(thesis)
    (folder.parent / "detour").symlink_to(folder)
    (folder / "elsewhere").symlink_to("/usr/share")
    names = [folder, folder / "*", folder / "thesi", "/", "", folder / "link"]
    names += [folder.parent / "detour" / "thesis", folder / "elsewhere" / ".." / "thesis"]
    for name in names:
        with pytest.raises(GuardRefusal, match="without Tameshi's marker") as caught:
            check(thesis, name)
        assert f"--destroy {thesis}, if its content may be destroyed" in caught.value.accepted
    assert thesis.read_bytes() == FOREIGN


def test_a_link_is_named_by_what_it_leads_to(thesis: Path) -> None:
    link = thesis.parent / "link"
    link.symlink_to(thesis)
    with pytest.raises(GuardRefusal, match="without Tameshi's marker"):
        check(link, link)
    assert check(link, thesis).path == thesis


def test_the_roles_file_in_a_directory_is_not_named_by_the_directory(thesis: Path) -> None:
    own = thesis.rename(thesis.with_name("tameshi-disk.dat"))
    with pytest.raises(GuardRefusal, match="without Tameshi's marker"):
        check(own.parent, own.parent)
    assert check(own.parent, own).action == "overwrite"


def test_a_named_file_with_a_second_name_is_refused(thesis: Path) -> None:
    os.link(thesis, thesis.with_name("copy"))
    with pytest.raises(GuardRefusal, match="2 names"):
        check(thesis, thesis, thesis.with_name("copy"))


@pytest.mark.parametrize("ours", [False, True])
def test_a_file_behind_a_loop_device_is_refused(
    tmp_path: Path, attach: Callable[..., Path], ours: bool
) -> None:
    path = tmp_path / "image"
    if ours:
        guard.open_target(check(path), direct=False).close()
    else:
        blank(path)
    plan = check(path, path)
    node = attach(path)
    found = f"it backs the loop device {node.name}"
    with pytest.raises(GuardRefusal, match=found):
        check(path, path)
    with pytest.raises(GuardRefusal):
        guard.open_target(plan, direct=False)
    if ours:
        with pytest.raises(GuardRefusal, match=found):
            guard.remove_target(path)


def test_swap_file_is_refused(thesis: Path, tmp_path: Path) -> None:
    machine = guard.Machine(tmp_path / "proc")
    machine.proc.mkdir()
    name = str(thesis).replace(" ", "\\040")
    (machine.proc / "swaps").write_text(f"Filename Type Size Used Priority\n{name} file 1 0 -2\n")
    with pytest.raises(GuardRefusal, match="it is active swap"):
        check(thesis, thesis, machine=machine)


@pytest.mark.parametrize("kind", [disks.mbr, disks.lvm, disks.luks])
def test_a_named_image_of_a_disk_is_refused(tmp_path: Path, kind: Callable[[Path], None]) -> None:
    path = blank(tmp_path / "image")
    kind(path)
    before = path.read_bytes()
    with pytest.raises(GuardRefusal, match="clear it yourself"):
        check(path, path)
    assert path.read_bytes() == before


def test_a_named_file_that_a_program_has_open_is_refused(thesis: Path) -> None:
    plan = check(thesis, thesis)
    script = f"file = open({str(thesis)!r}, 'rb+'); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as program:
        assert program.stdout
        program.stdout.readline()
        with pytest.raises(GuardRefusal, match="has this file open"):
            check(thesis, thesis)
        with pytest.raises(GuardRefusal, match="has this file open"):
            guard.open_target(plan, direct=False)
        program.communicate(b"\n")
    assert thesis.read_bytes() == FOREIGN
    assert check(thesis, thesis).action == "overwrite"


@pytest.mark.parametrize("path", ["/proc/self/comm", "/sys/kernel/mm/ksm/run"])
def test_a_named_file_of_the_kernels_is_refused(path: str) -> None:
    real = os.path.realpath(path)
    if not os.path.exists(real):
        real = "/proc/self/stat"
    with pytest.raises(GuardRefusal, match="file system of the kernel"):
        check(Path(real), real)


@pytest.mark.parametrize("kind", ["pipe", "character device", "directory"])
def test_special_file_is_refused_even_if_named(tmp_path: Path, kind: str) -> None:
    path = Path("/dev/null") if kind == "character device" else tmp_path / "tameshi-disk.dat"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    bound = tmp_path if kind == "directory" else path
    with pytest.raises(GuardRefusal, match=kind):
        check(bound, path)


@pytest.mark.parametrize("by", ["writing", "another file", "a link", "a second name"])
def test_a_named_file_changed_meanwhile_is_refused(thesis: Path, by: str) -> None:
    plan = check(thesis, thesis)
    other = thesis.with_name("other")
    if by == "writing":
        with thesis.open("ab") as file:
            file.write(b"one more line")
    elif by == "another file":
        other.write_bytes(FOREIGN)
        other.rename(thesis)
    elif by == "a link":
        thesis.rename(other)
        thesis.symlink_to(other)
    else:
        os.link(thesis, other)
    before = thesis.read_bytes()
    with pytest.raises(GuardRefusal):
        guard.open_target(plan, direct=False)
    assert thesis.read_bytes() == before


@pytest.mark.parametrize("first", ["create", "overwrite", "reuse"])
def test_plan_reopens_its_first_target(thesis: Path, first: str) -> None:
    path = thesis if first == "overwrite" else thesis.with_name("own")
    if first == "reuse":
        guard.open_target(check(path), direct=False).close()
    plan = check(path, thesis)
    assert plan.action == first
    for laid_out in (False, True):
        with guard.open_target(plan, direct=False) as target:
            assert target.laid_out == laid_out
            guard.mark_laid_out(target)
    path.rename(path.with_name("moved"))
    path.write_bytes(FOREIGN)
    with pytest.raises(GuardRefusal):
        guard.open_target(plan, direct=False)
    assert path.read_bytes() == FOREIGN


def test_unused_destroy_name_is_bad_input(thesis: Path, tmp_path: Path) -> None:
    plans = [check(thesis, thesis), check(tmp_path / "new")]
    guard.refuse_unused([str(thesis), str(tmp_path / "new")], plans)
    for name in (str(thesis.parent), f"{thesis}x"):
        with pytest.raises(BadInput, match="no target of this command has this name") as caught:
            guard.refuse_unused([str(thesis), name], plans)
        assert str(thesis) in caught.value.accepted


def test_two_roles_may_not_share_a_target(thesis: Path) -> None:
    path = thesis.with_name("new")
    with pytest.raises(BadInput, match="`a` and `b` are the same target"):
        guard.check_targets({"a": (path, SIZE), "b": (path, SIZE)})
    assert set(guard.check_targets({"a": (path.parent, SIZE), "b": (path.parent, SIZE)})) == {
        *("a", "b")
    }
