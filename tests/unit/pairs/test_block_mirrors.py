"""Block mirrors of a pair: the loss of the near side, once; links; the wait for a resync."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from tameshi.core.errors import RunFailed
from tameshi.pairs import REPLICATIONS
from tameshi.pairs.mirror import BlockMirror, Mirror, NearDrive


class Drive:
    """Drive that answers as a served block mirror."""

    plan = None

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.sides = ["both"]

    def ask(self, message: str) -> dict[str, Any]:
        self.asked.append(message)
        if message == "status":
            sides = self.sides.pop(0) if len(self.sides) > 1 else self.sides[0]
            return {"mirror": {"sides": sides}}
        if message == "take_back" and self.sides == ["both"]:
            return {"missed": {"code": "no_lost_side"}}
        return {"missed": None, "lost_writes": 3}

    def restore_power(self, cut_ns: int, *, kill: bool) -> dict[str, Any]:
        self.asked.append(f"mount {kill}")
        return {}


@pytest.fixture
def drive() -> Drive:
    return Drive()


@pytest.fixture
def mirror(drive: Drive) -> Mirror:
    directory = SimpleNamespace(let_go=nullcontext)
    return Mirror(drive, directory)  # type: ignore[arg-type]


def test_near_side_is_lost_once_until_the_far_side_is_mounted(drive: Drive, mirror: Mirror) -> None:
    assert NearDrive(mirror).ask("cut")["lost_writes"] == 3
    mirror.lose_near_side()
    mirror.mount_far_side()
    assert drive.asked == ["fail_over", "mount True"]
    mirror.lose_near_side()
    assert drive.asked.count("fail_over") == 2


def test_cut_link_holds_back_until_it_heals_or_the_side_is_lost(mirror: Mirror) -> None:
    assert not mirror.holds_back
    mirror.change_link("cut")
    assert mirror.holds_back
    mirror.change_link("heal")
    assert not mirror.holds_back
    mirror.change_link("cut")
    mirror.lose_near_side()
    assert not mirror.holds_back


def test_link_of_a_side_alone_stays_as_it_is(drive: Drive, mirror: Mirror) -> None:
    drive.sides = ["alone"]
    mirror.change_link("cut")
    assert "link cut" not in drive.asked and not mirror.holds_back


def test_return_waits_for_the_end_of_the_resync(drive: Drive, mirror: Mirror) -> None:
    drive.sides = ["alone", "resync", "resync", "both"]
    mirror.take_back()
    assert drive.sides == ["both"]
    with pytest.raises(RunFailed, match="no side is lost"):
        mirror.take_back()


def test_asynchronous_mirrors_alone_promise_nothing() -> None:
    mirrors = {name: of for name, of in REPLICATIONS.items() if isinstance(of, BlockMirror)}
    assert len(mirrors) == 9
    for name, of in mirrors.items():
        assert of.promises is (of.protocol != "asynchronous"), name
