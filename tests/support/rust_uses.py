"""Dependencies between files of a crate, by the paths in their code."""

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path

from tree import code_of, without_test_modules

USE = re.compile(r"\b(?P<public>pub(?:\([^)]*\))?\s+)?use\s+(?P<tree>[^;]+);")
PATH = re.compile(r"(?<![:\w])\w+(?:::\w+)+")

Module = tuple[str, ...]


def leaves(tree: str, stem: Module = ()) -> Iterator[Module]:
    """Yield each path of a `use` tree, which is on one line without renames."""
    part, depth = "", 0
    for sign in f"{tree},":
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if sign != "," or depth:
            part += sign
            continue
        head, brace, inner = part.strip().partition("{")
        path = (*stem, *filter(None, head.split("::")))
        if brace:
            yield from leaves(inner.rpartition("}")[0], path)
        elif head:
            yield path
        part = ""


def plain(tree: str) -> str:
    return re.sub(r"\s+as\s+\w+", "", " ".join(tree.split()))


def modules(source: Path) -> dict[Module, str]:
    """Return the code of each module below a crate's `src`, without tests."""
    found = {}
    for path in sorted(source.rglob("*.rs")):
        parts = path.relative_to(source).with_suffix("").parts
        name = parts[:-1] if parts[-1] in {"mod", "lib", "main"} else parts
        found[name] = without_test_modules(code_of(path.read_text()))
    return found


class Names:
    """Meaning of names in a crate's modules."""

    def __init__(self, code: Mapping[Module, str]) -> None:
        self.modules = frozenset(code)
        self.passed_on = {
            (module, leaf[-1]): leaf
            for module, text in code.items()
            for use in USE.finditer(text)
            if use["public"]
            for leaf in leaves(plain(use["tree"]))
        }

    def absolute(self, module: Module, path: Module) -> Module | None:
        ups = len(list(takewhile("super".__eq__, path)))
        if ups:
            return module[: len(module) - ups] + path[ups:]
        if path[0] == "crate":
            return path[1:]
        if path[0] == "self":
            return module + path[1:]
        return module + path if (*module, path[0]) in self.modules else None

    def owner(self, module: Module, path: Module, seen: frozenset = frozenset()) -> Module | None:
        """Return the module of a path used in `module`, through re-exports."""
        total = self.absolute(module, path)
        if total is None:
            return None
        length = next(n for n in range(len(total), -1, -1) if total[:n] in self.modules)
        found = total[:length]
        key = (found, total[length]) if length < len(total) else None
        if key in self.passed_on and key not in seen:
            return self.owner(found, self.passed_on[key], seen | {key}) or found
        return found


def uses(source: Path) -> dict[Module, set[Module]]:
    """Return each module of a crate with the modules that it uses, apart from its parents."""
    code = modules(source)
    names = Names(code)
    graph: dict[Module, set[Module]] = {}
    for module, text in code.items():
        paths = [
            leaf
            for use in USE.finditer(text)
            if not use["public"]
            for leaf in leaves(plain(use["tree"]))
        ]
        paths += (tuple(path[0].split("::")) for path in PATH.finditer(USE.sub("", text)))
        owners = {names.owner(module, path) for path in paths}
        graph[module] = {
            each for each in owners if each is not None and module[: len(each)] != each
        }
    return graph
