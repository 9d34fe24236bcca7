"""Limit of a server's connections: raised for a study's clients, or the study is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.core.errors import BadInput
from tameshi.servers.catalog import PRODUCTS
from tameshi.servers.dsn import RunningServer, require_room


@pytest.mark.parametrize(
    ("name", "connections", "limit"),
    [
        ("mariadb", 151, None),
        ("mariadb", 152, "152"),
        ("postgresql", 100, None),
        ("postgresql", 208, "208"),
        ("sqlite", 5000, None),
    ],
)
def test_limit_is_raised_only_beyond_the_default(name, connections, limit):
    options = PRODUCTS[name].admitting(connections, {"a": "b"})
    assert options == {"a": "b"} | ({"max_connections": limit} if limit else {})


@pytest.mark.parametrize("name", ["mariadb", "mysql", "postgresql"])
def test_lower_limit_of_a_study_is_refused(name):
    product = PRODUCTS[name]
    assert product.admitting(50, {"max_connections": "50"}) == {"max_connections": "50"}
    with pytest.raises(BadInput, match="admits fewer connections") as caught:
        product.admitting(51, {"max_connections": "50"})
    assert caught.value.key == f"engine.{name}.options.max_connections"
    assert caught.value.accepted[0] == "51 or more"


class Answers:
    """Client whose queries have these answers, in this order."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    def query(self, _statement: str) -> Any:
        return [self.answers.pop(0)]

    def close(self) -> None: ...

    def __enter__(self) -> Answers:
        return self

    def __exit__(self, *_: object) -> None: ...


@pytest.mark.parametrize(
    ("name", "answers", "room"),
    [
        ("mariadb", [(151, 0), ("11",)], 141),
        ("mariadb", [(151, 20), ("11",)], 20),
        ("postgresql", [(90, -1, -1)], 90),
        ("postgresql", [(90, 30, 40)], 30),
    ],
)
def test_room_is_the_lowest_limit_less_what_is_in_use(name, answers, room, monkeypatch):
    product = PRODUCTS[name]
    assert product.room(Answers(*answers)) == room
    server = RunningServer(product, f"{name}://ann@db/shop")
    monkeypatch.setattr(product, "enter", lambda *_: Answers(*answers))
    require_room(server, room)
    with pytest.raises(BadInput, match="admits fewer connections") as caught:
        require_room(server, room + 1)
    assert caught.value.found == f"room for {room}, of {room + 1} needed"
