"""Permission of a worker: paths beyond it are refused, whatever a message says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tameshi.cluster import permission
from tameshi.cluster.permission import bindings_within, grant
from tameshi.core.errors import BadInput, GuardRefusal


@pytest.fixture(autouse=True)
def none_granted() -> Iterator[None]:
    permission._granted.clear()
    yield
    permission._granted.clear()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("allowed", "other", "allowed-not"):
        (tmp_path / name).mkdir()
    grant("db1", [tmp_path / "allowed"], ["SERIAL"])
    return tmp_path


def test_worker_without_permission_measures_nothing(tmp_path: Path) -> None:
    with pytest.raises(GuardRefusal, match="without a permission"):
        bindings_within({"disk": str(tmp_path)})


@pytest.mark.parametrize("name", ["allowed", "allowed/disk", "allowed/a/b", "other/../allowed"])
def test_allowed_path_is_bound_by_its_real_path(place: Path, name: str) -> None:
    bound = bindings_within({"disk": str(place / name)})
    assert bound.storage["disk"].is_relative_to(place / "allowed")
    assert bound.destroy == ("SERIAL",) and not bound.event and not bound.server


@pytest.mark.parametrize("name", ["", "other", "allowed-not", "allowed/../other", "/"])
def test_path_beyond_the_permission_is_refused(place: Path, name: str) -> None:
    with pytest.raises(GuardRefusal, match="db1: disk: this worker was not started") as refused:
        bindings_within({"disk": str(place / name)})
    assert refused.value.accepted == [str(place / "allowed")]


def test_link_out_of_the_permission_is_refused(place: Path) -> None:
    (place / "allowed" / "link").symlink_to(place / "other")
    with pytest.raises(GuardRefusal, match="not started with a permission"):
        bindings_within({"disk": str(place / "allowed" / "link")})


def test_permission_is_granted_once_and_never_for_all(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="root directory"):
        grant("db1", [Path("/")])
    with pytest.raises(BadInput, match="no such path"):
        grant("db1", [tmp_path / "absent"])
    grant("db1", [tmp_path])
    with pytest.raises(BadInput, match="already"):
        grant("db1", [tmp_path])
