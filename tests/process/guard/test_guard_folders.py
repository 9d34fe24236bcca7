"""Guard's decisions on folders; docs/guard.md names these tests."""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tameshi import guard
from tameshi.core.errors import GuardRefusal, TameshiError


@pytest.fixture
def owned(tmp_path: Path) -> Path:
    guard.claim_folder(tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.txt").write_text("years of work")
    return tmp_path / "foreign"


# --- Claiming --------------------------------------------------------------------------------


def test_a_new_folder_is_made_with_its_parents_and_marked(tmp_path: Path) -> None:
    guard.claim_folder(tmp_path / "a" / "b")
    assert os.listdir(tmp_path / "a" / "b") == [guard.MARKER]
    assert os.listdir(tmp_path / "a") == ["b"]


def test_an_empty_folder_is_claimed(tmp_path: Path) -> None:
    guard.claim_folder(tmp_path)
    assert os.listdir(tmp_path) == [guard.MARKER]


def test_an_owned_folder_is_claimed_again_as_it_is(owned: Path) -> None:
    guard.write_file(owned / "results.json", b"{}")
    guard.claim_folder(owned)
    assert (owned / "results.json").read_bytes() == b"{}"


def test_a_folder_with_foreign_content_is_not_claimed(foreign: Path) -> None:
    with pytest.raises(GuardRefusal, match="holds files that Tameshi did not make") as caught:
        guard.claim_folder(foreign)
    assert caught.value.found == "a directory with 1 entry"
    assert os.listdir(foreign) == ["thesis.txt"]


def test_a_file_in_the_place_of_a_folder_is_refused(foreign: Path) -> None:
    for path in (foreign / "thesis.txt", foreign / "thesis.txt" / "out"):
        with pytest.raises(GuardRefusal) as caught:
            guard.claim_folder(path)
        assert caught.value.where == str(foreign / "thesis.txt")
        assert caught.value.found == "a regular file of 13 bytes"
        assert caught.value.accepted == [
            "a new folder",
            "an empty folder",
            "a folder made by Tameshi",
        ]
    assert (foreign / "thesis.txt").read_text() == "years of work"


def test_truncated_marker_is_completed(tmp_path: Path) -> None:
    (tmp_path / guard.MARKER).write_bytes(b"Tameshi made")
    guard.claim_folder(tmp_path)
    guard.write_file(tmp_path / "file", b"")


@pytest.mark.parametrize("kind", ["other text", "link", "second name"])
def test_a_false_marker_is_no_marker(tmp_path: Path, owned: Path, kind: str) -> None:
    false = tmp_path / "false"
    false.mkdir()
    if kind == "other text":
        (false / guard.MARKER).write_text("mine, all mine")
    elif kind == "link":
        (false / guard.MARKER).symlink_to(owned / guard.MARKER)
    else:
        os.link(owned / guard.MARKER, false / guard.MARKER)
    for act in (guard.claim_folder, guard.remove_folder):
        with pytest.raises(GuardRefusal):
            act(false)
    with pytest.raises(GuardRefusal):
        guard.write_file(false / "file", b"")
    assert os.listdir(false) == [guard.MARKER]


def test_root_and_homes_are_neither_claimed_nor_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home" / "me"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    for path in (Path("/"), home, home.parent):
        for act in (guard.claim_folder, guard.remove_folder):
            with pytest.raises(GuardRefusal, match="a home"):
                act(path)
    guard.claim_folder(home / "out")


# --- Removing --------------------------------------------------------------------------------


def test_an_owned_folder_is_removed_with_everything_in_it(tmp_path: Path, owned: Path) -> None:
    guard.write_file(owned / "runs" / "0123" / "spec.json", b"{}")
    os.mkfifo(owned / "pipe")
    guard.remove_folder(owned)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_the_marker_is_not_removed(tmp_path: Path, foreign: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path in (foreign, tmp_path / "empty", foreign / "thesis.txt", tmp_path / "nowhere"):
        with pytest.raises(GuardRefusal):
            guard.remove_folder(path)
    assert (foreign / "thesis.txt").read_text() == "years of work"
    assert (tmp_path / "empty").is_dir()


def test_links_in_a_folder_are_deleted_and_not_followed(owned: Path, foreign: Path) -> None:
    (owned / "to-folder").symlink_to(foreign)
    (owned / "to-file").symlink_to(foreign / "thesis.txt")
    guard.remove_folder(owned)
    assert not owned.exists()
    assert (foreign / "thesis.txt").read_text() == "years of work"


def test_a_link_to_an_owned_folder_is_not_removed(tmp_path: Path, owned: Path) -> None:
    (tmp_path / "link").symlink_to(owned)
    with pytest.raises(GuardRefusal, match="a symbolic link"):
        guard.remove_folder(tmp_path / "link")
    assert (owned / guard.MARKER).exists()


@pytest.mark.parametrize("options", [["-t", "tmpfs", "tmpfs"], ["--bind", "FOREIGN"]])
def test_a_folder_with_a_mount_inside_is_left_whole(
    owned: Path, foreign: Path, options: list[str]
) -> None:
    point = owned / "runs" / "mnt"
    guard.write_file(point / "file", b"")
    words = [str(foreign) if word == "FOREIGN" else word for word in options]
    if subprocess.run(["mount", *words, str(point)], capture_output=True).returncode:
        pytest.skip("mounting is not permitted here")
    try:
        (point / "precious").write_bytes(b"kept")
        with pytest.raises(GuardRefusal, match="mounted at"):
            guard.remove_folder(owned)
        assert (point / "precious").read_bytes() == b"kept"
        assert (owned / guard.MARKER).exists()
    finally:
        subprocess.run(["umount", "--lazy", str(point)], check=True)


# --- Writing ---------------------------------------------------------------------------------


def test_a_file_is_written_whole_into_an_owned_folder(owned: Path) -> None:
    for data in (b"first", b"second"):
        guard.write_file(owned / "runs" / "0123" / "spec.json", data)
        assert (owned / "runs" / "0123" / "spec.json").read_bytes() == data
    assert os.listdir(owned / "runs" / "0123") == ["spec.json"]


def test_a_file_that_cannot_be_replaced_leaves_no_trace(owned: Path) -> None:
    (owned / "results.json").mkdir()
    with pytest.raises(TameshiError):
        guard.write_file(owned / "results.json", b"{}")
    assert sorted(os.listdir(owned)) == [guard.MARKER, "results.json"]


def test_nothing_is_written_outside_owned_folders(owned: Path, foreign: Path) -> None:
    (owned / "out").symlink_to(foreign)
    paths = [
        foreign / "new.json",
        foreign / "thesis.txt",
        foreign / "sub" / "new.json",
        owned / "out" / "thesis.txt",
        owned / ".." / "foreign" / "thesis.txt",
        owned / guard.MARKER,
    ]
    for path in paths:
        with pytest.raises(GuardRefusal):
            guard.write_file(path, b"gone")
        with pytest.raises(GuardRefusal):
            guard.append_file(path)
    assert os.listdir(foreign) == ["thesis.txt"]
    assert (foreign / "thesis.txt").read_text() == "years of work"


def test_a_link_at_the_end_is_replaced_or_refused_and_not_followed(
    owned: Path, foreign: Path
) -> None:
    (owned / "link").symlink_to(foreign / "thesis.txt")
    os.link(foreign / "thesis.txt", owned / "second")
    os.mkfifo(owned / "pipe")
    for name in ("link", "second", "pipe"):
        with pytest.raises(GuardRefusal):
            guard.append_file(owned / name)
    for name in ("link", "second"):
        guard.write_file(owned / name, b"new")
    assert (foreign / "thesis.txt").read_text() == "years of work"


def test_a_file_in_an_owned_folder_is_deleted(owned: Path) -> None:
    guard.write_file(owned / "results" / "a.parquet", b"a")
    guard.remove_file(owned / "results" / "a.parquet")
    assert os.listdir(owned / "results") == []
    guard.remove_file(owned / "results" / "a.parquet")
    guard.remove_file(owned / "absent" / "a.parquet")
    assert not (owned / "absent").exists()


def test_nothing_but_a_file_of_an_owned_folder_is_deleted(owned: Path, foreign: Path) -> None:
    (owned / "folder").mkdir()
    (owned / "link").symlink_to(foreign / "thesis.txt")
    os.mkfifo(owned / "pipe")
    for path in (
        *(owned / name for name in ("folder", "link", "pipe", guard.MARKER)),
        *(foreign / "thesis.txt", owned / ".." / "foreign" / "thesis.txt"),
    ):
        with pytest.raises(GuardRefusal):
            guard.remove_file(path)
        assert os.path.lexists(path)
    assert (foreign / "thesis.txt").read_text() == "years of work"


def test_appending_adds_to_what_is_there(owned: Path) -> None:
    for line in (b"one\n", b"two\n"):
        with guard.append_file(owned / "series" / "load.csv") as file:
            file.write(line)
    assert (owned / "series" / "load.csv").read_bytes() == b"one\ntwo\n"


# --- Any tree --------------------------------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "tameshi-disk.dat", ".tameshi-new-1", "results.json"])
TREES = st.recursive(
    st.one_of(st.binary(max_size=64), st.sampled_from(["a", "..", "/tmp"])),
    lambda inner: st.dictionaries(NAMES, inner, min_size=1, max_size=4),
    max_leaves=12,
)
Tree = dict[str, "Tree"] | bytes | str


def plant(place: Path, content: Tree) -> None:
    """Create a tree: a dictionary is a folder, bytes a file, a string a symbolic link."""
    if isinstance(content, bytes):
        place.write_bytes(content)
    elif isinstance(content, str):
        place.symlink_to(content)
    else:
        place.mkdir()
        for name, inner in content.items():
            plant(place / name, inner)


def harvest(place: Path) -> Tree:
    if place.is_symlink():
        return os.readlink(place)
    if place.is_file():
        return place.read_bytes()
    return {entry.name: harvest(entry) for entry in place.iterdir()}


@settings(max_examples=150, deadline=None)
@given(content=st.dictionaries(NAMES, TREES, min_size=1, max_size=4), data=st.data())
def test_a_tree_without_the_marker_never_changes(
    content: dict[str, Tree], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        plant(root, content)
        paths = [root, *sorted(root.rglob("*"))]
        path = data.draw(st.sampled_from(paths))
        for act in (guard.claim_folder, guard.remove_folder, guard.remove_target):
            # An empty folder, or one outside reached through a link, may be claimed.
            if act is guard.claim_folder and not path.resolve().is_relative_to(root):
                continue
            with pytest.raises(TameshiError):
                act(path)
        with pytest.raises(TameshiError):
            guard.write_file(path / "new", b"new")
        with pytest.raises(TameshiError):
            guard.write_file(path, b"new")
        with suppress(TameshiError):
            guard.check_target(path, 1 << 20, "disk")
        assert harvest(root) == content
