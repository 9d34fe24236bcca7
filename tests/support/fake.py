"""Fake server as a product."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from tameshi.core.spec_types import Engine
from tameshi.servers.installed import Program
from tameshi.servers.product import Address, Client, ClientError, Home, Product

SERVER = Path(__file__).with_name("fake_server.py")
PROGRAM = Program("fake", "1.0", str(SERVER))


class FakeProduct(Product):
    name = title = program = "fake"
    remedy = "It is in the tests."

    def neutral(self, engine: Engine, version: str) -> dict[str, str]:
        return {}

    def shaping(self, options: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in options.items() if name == "shape"}

    def initialise(self, program: Program, home: Home, options: Mapping[str, str]) -> list[str]:
        broken = "; exit 3" if "broken" in options else ""
        return ["sh", "-c", f"echo making; touch '{home.data}/rows'{broken}"]

    def command(self, program: Program, home: Home, options: Mapping[str, str]) -> list[str]:
        socket_path = str(self.address(home, options).socket)
        given = [f"--{name}={value}" for name, value in options.items()]
        return [sys.executable, program.path, str(home.data), socket_path, *given]

    def address(self, home: Home, options: Mapping[str, str]) -> Address:
        return Address(self.name, "tameshi", socket=home.run / "sock")

    def shell(self, address: Address) -> list[str]:
        return ["true", str(address.socket)]

    def create(self, client: Client) -> None:
        pass

    def settle(self, client: Client) -> None:
        client.query("PUT settled")

    def connect(self, address: Address, timeout_seconds: float, secret: str = "") -> Client:
        return FakeClient(address, timeout_seconds)


class FakeClient:
    def __init__(self, address: Address, timeout_seconds: float) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout_seconds)
        try:
            self.socket.connect(str(address.socket))
        except OSError as error:
            self.socket.close()
            raise ClientError(str(error)) from None
        self.lines = self.socket.makefile("rw")

    def query(self, statement: str) -> Any:
        try:
            self.lines.write(statement + "\n")
            self.lines.flush()
            return json.loads(self.lines.readline())
        except (OSError, ValueError) as error:
            raise ClientError(str(error)) from None

    def close(self) -> None:
        with suppress(OSError):
            self.lines.close()
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
