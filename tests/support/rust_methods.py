"""Method calls between files of a crate, and sizes of its structs."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from rust_uses import Module, modules, uses
from tree import closing, code_of, without_test_modules

IMPL = re.compile(
    r"(?m)^[ \t]*(?:unsafe\s+)?impl\b(?:\s*<[^{;]*?>)?\s+(?P<head>[^{;]+?)\s*\{", re.DOTALL
)
METHOD = re.compile(r"\bfn\s+(\w+)\s*(?:<[^(]*>)?\(\s*(?:&\s*(?:'\w+\s+)?)?(?:mut\s+)?self\b")
ASSOCIATED = re.compile(r"\bfn\s+(\w+)")
CALL = re.compile(r"\b(?:self\s*\.|Self\s*::)\s*(\w+)\s*\(")
STRUCT = re.compile(
    r"(?P<derives>(?:#\[[^\]]*\]\s*)*)(?:pub(?:\([^)]*\))?\s+)?struct\s+(?P<name>\w+)[^;{(]*\{"
)
FIELD = re.compile(r"(?m)^\s*(?:pub\)?\s+|pub(?:\([^)]*\))?\s+)?(?:r#)?\w+\s*:(?!:)")


def implementations(code: str) -> Iterator[tuple[str, str]]:
    """Yield type name and body of each inherent or trait `impl` in `code_of` some Rust."""
    for match in IMPL.finditer(code):
        head = match["head"].split(" where ")[0]
        name = re.sub(r"<.*", "", head.rpartition(" for ")[2].strip(), flags=re.DOTALL)
        body = code[match.end() - 1 : closing(code, match.end() - 1) + 1]
        yield name.rpartition("::")[2].strip(), body


def method_calls(source: Path) -> dict[Module, set[Module]]:
    """Return each module of a crate with the modules whose methods of the same type it calls by
    `self`."""
    code = modules(source)
    owners: dict[tuple[str, str], set[Module]] = defaultdict(set)
    for module, text in code.items():
        for name, body in implementations(text):
            for function in ASSOCIATED.findall(body):
                owners[name, function].add(module)
    graph: dict[Module, set[Module]] = {module: set() for module in code}
    for module, text in code.items():
        for name, body in implementations(text):
            for call in CALL.findall(body):
                found = owners.get((name, call), set())
                if module not in found:
                    graph[module] |= found
    return graph


def calls_and_uses(source: Path) -> dict[Module, set[Module]]:
    """Return the edges between modules of a crate: paths in code, and methods called through
    `self`."""
    graph = uses(source)
    for module, called in method_calls(source).items():
        graph[module] = graph.get(module, set()) | called
    return graph


def cycles(graph: dict[Module, set[Module]]) -> list[list[Module]]:
    """Return strongly connected groups of more than one module, largest first."""
    order: list[Module] = []
    seen: set[Module] = set()

    def visit(start: Module, arrows: dict[Module, set[Module]], out: list[Module]) -> None:
        stack = [(start, iter(sorted(arrows.get(start, ()))))]
        seen.add(start)
        while stack:
            node, rest = stack[-1]
            for successor in rest:
                if successor not in seen:
                    seen.add(successor)
                    stack.append((successor, iter(sorted(arrows.get(successor, ())))))
                    break
            else:
                out.append(node)
                stack.pop()

    for module in sorted(graph):
        if module not in seen:
            visit(module, graph, order)
    reverse: dict[Module, set[Module]] = defaultdict(set)
    for module, targets in graph.items():
        for target in targets:
            reverse[target].add(module)
    seen.clear()
    groups = []
    for module in reversed(order):
        if module not in seen:
            group: list[Module] = []
            visit(module, reverse, group)
            if len(group) > 1:
                groups.append(sorted(group))
    return sorted(groups, key=len, reverse=True)


def struct_sizes(source: Path) -> Iterator[tuple[int, str, bool]]:
    """Return number of fields, name and serde use of each struct with named fields."""
    for path in sorted(source.rglob("*.rs")):
        code = without_test_modules(code_of(path.read_text(encoding="utf-8")))
        for match in STRUCT.finditer(code):
            body = code[match.end() : closing(code, match.end() - 1)]
            flat, depth = "", 0
            for sign in body:
                depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(sign, 0)
                flat += sign if depth == 0 else ""
            fields = len(FIELD.findall(flat))
            of_a_file = bool(re.search(r"Deserialize|Serialize|JsonSchema", match["derives"]))
            yield fields, f"{path.relative_to(source)}::{match['name']}", of_a_file
