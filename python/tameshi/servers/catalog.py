"""Product of a study's engine on this machine: named or bound, and its installed program."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tameshi.core.errors import BadInput
from tameshi.core.spec_types import Engine
from tameshi.servers import sqlite
from tameshi.servers.installed import Program, installed
from tameshi.servers.mariadb import MariaDB
from tameshi.servers.mysql import MySQL
from tameshi.servers.postgresql import PostgreSQL
from tameshi.servers.product import Product

PRODUCTS: dict[str, Product] = {
    product.name: product for product in (MariaDB(), MySQL(), PostgreSQL(), sqlite.SQLite())
}


def product_named(name: str, where: str = "--server") -> Product:
    """Return the product of this name. Raise `BadInput`."""
    if name not in PRODUCTS:
        message = "unknown database server"
        raise BadInput(message, where=where, found=name, accepted=list(PRODUCTS))
    return PRODUCTS[name]


def program_of(
    product: Product, engine: Engine, programs: Iterable[Program] | None = None
) -> Program:
    """Return the newest installed server that fits the engine's version.

    Raises `BadInput` without one, or with only other versions.
    """
    if product.embedded:
        return sqlite.here()
    there = installed() if programs is None else programs
    installed_programs = [program for program in there if program.product == product.program]
    if not installed_programs:
        raise BadInput(
            f"{product.title} is not installed",
            key=f"engine.{product.name}",
            found="no program of this server found",
            hint=product.remedy,
        )
    fitting = [program for program in installed_programs if fits(program.version, engine.version)]
    if not fitting:
        raise BadInput(
            f"the study needs another version of {product.title} than the installed one",
            key=f"engine.{product.name}.version",
            found=", ".join(
                f"{program.version} ({program.path})" for program in installed_programs
            ),
            accepted=[f"{engine.version} installed", "a study without a version"],
        )
    return max(fitting, key=lambda program: _number(program.version))


def fits(version: str, wanted: str | None) -> bool:
    """Return whether a version matches the wanted prefix: `10.11.19` is a `10.11`."""
    if not wanted:
        return True
    numbers = _number(wanted)
    return _number(version)[: len(numbers)] == numbers


def _number(version: str) -> tuple[int, ...]:
    match = re.match(r"[\d.]*\d", version)
    return tuple(int(part) for part in match[0].split(".") if part) if match else ()
