"""The import law: who may import whom, in Rust by the manifests and in Python by the sources."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import tameshi

HERE = Path(__file__).name

# crate or module: what it may import. It may also import what those may import.
CRATES = {
    "base": set(),
    "record": {"base"},
    "workload": {"base"},
    "spec": {"base", "workload"},
    "sim": {"spec", "record", "workload"},
    "blockio": {"spec", "record", "workload"},
    "oltp": {"spec", "record", "workload"},
    "emulate": {"sim"},
    "core-hash": set(),
    "py": {"sim", "blockio", "oltp", "emulate", "core-hash"},
}
# Libraries that only these crates may depend on, tests included.
KEPT_TO = {
    "mysql": "oltp",
    "mysql_async": "oltp",
    "postgres": "oltp",
    "postgres-protocol": "oltp",
    "rusqlite": "oltp",
    "rustls": "oltp",
    "tokio-postgres": "oltp",
    "io-uring": "blockio emulate",
    "pyo3": "py",
}

# Package below python/tameshi: what it may import. It may also import what those may import.
PACKAGES = {
    "core": set(),
    "guard": {"core"},
    "study": {"core"},
    "record": {"guard"},
    "servers": {"guard"},
    "analysis": {"record", "study"},
    "run": {"analysis", "pairs"},
    "report.words": {"core"},
    "report.view": {"report.words", "analysis"},
    "report.sections": {"report.view"},
    "report.render": {"report.view"},
    "report.layouts": {"record"},
    "report": {"report.sections", "report.render"},
    "workflow": {"run", "report"},
    "monitor": {"run"},
    "cluster": {"run"},
    "compare": {"analysis"},
    "doctor": {"servers"},
    "serve": {"guard"},
    "hosts": {"serve"},
    "pairs": {"hosts", "record", "servers"},
    "availability": {"pairs", "report"},
    "devices": {"study", "report"},
    "fio": {"analysis"},
    "archives": {"workflow", "fio"},
    "ask": {"workflow"},
    "calibrate": {"workflow", "fio"},
    "commands": {
        *("archives", "ask", "calibrate", "cluster", "compare", "devices", "doctor", "monitor"),
        *("availability", "hosts", "pairs", "report.layouts", "serve"),
    },
    "library": {"calibrate", "cluster", "compare", "devices", "workflow"},
    "__main__": {"commands"},
    "__init__": {"library"},
}
COMPILED = {"_tameshi"}
PUBLIC = set(tameshi.__all__)

# `analysis/stats` turns numbers into numbers.
IO_MODULES = {"io", "os", "pathlib", "shutil", "socket", "sqlite3", "subprocess", "tempfile"}
IO_CALLS = ("read_", "scan_", "sink_", "write_")


def reach(law: Mapping[str, set[str]], name: str) -> set[str]:
    """All that `name` may import."""
    return law[name].union(*(reach(law, lower) for lower in law[name]))


def crate_violations(root: Path) -> Iterator[str]:
    """Each dependency in the manifests that the law forbids."""
    shared = tomllib.loads((root / "Cargo.toml").read_text()).get("workspace", {})
    for manifest in sorted(root.glob("crates/*/Cargo.toml")):
        crate = manifest.parent.name
        if crate not in CRATES:
            yield f"crates/{crate} is not in the import law: add it to CRATES in {HERE}"
            continue
        for name, dependency, in_test in dependencies(tomllib.loads(manifest.read_text())):
            if dependency.get("workspace"):
                dependency = as_table(shared.get("dependencies", {}).get(name, {}))
            if "path" in dependency:
                # A test may look at both sides of the law.
                target = Path(dependency["path"]).name
                if not in_test and target not in reach(CRATES, crate):
                    yield f"crates/{crate} may not depend on crates/{target}"
            else:
                library = dependency.get("package", name)
                keepers = KEPT_TO.get(library, crate).split()
                if crate not in keepers:
                    may = " and ".join(f"crates/{keeper}" for keeper in keepers)
                    yield f"crates/{crate} may not depend on {library}: only {may} may"


def as_table(dependency: str | dict) -> dict:
    return {"version": dependency} if isinstance(dependency, str) else dependency


def dependencies(manifest: dict) -> Iterator[tuple[str, dict, bool]]:
    """Name, table and whether only tests see it, of each dependency of a manifest."""
    for tables in (manifest, *manifest.get("target", {}).values()):
        for kind in ("dependencies", "build-dependencies", "dev-dependencies"):
            for name, dependency in tables.get(kind, {}).items():
                yield name, as_table(dependency), kind == "dev-dependencies"


def imports(tree: ast.Module, package: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The dotted names a module of `package` imports, each with the name taken from it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            stem = above + tuple(node.module.split(".") if node.module else ())
            yield from ((*stem, alias.name) for alias in node.names)


def package_of(parts: tuple[str, ...]) -> str:
    """The longest name in the law that a path below python/tameshi begins with."""
    two = ".".join(parts[:2])
    return two if two in PACKAGES else parts[0]


def module_violations(root: Path) -> Iterator[str]:
    """Each import in python/tameshi that the law forbids."""
    home = root / "python"
    for path in sorted(home.glob("tameshi/**/*.py")):
        where = path.relative_to(root)
        inside = path.relative_to(home).with_suffix("").parts
        package = package_of(inside[1:])
        if package not in PACKAGES:
            yield f"{where} is not in the import law: add {package} to PACKAGES in {HERE}"
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for name in imports(tree, inside[:-1]):
            if name[0] == "tameshi":
                yield from (f"{where} {why}" for why in forbidden(inside[1:], package, name[1:]))
        if inside[1:3] == ("analysis", "stats"):
            yield from (f"{where} {why}" for why in io_in(tree, inside[:-1]))


def forbidden(module: tuple[str, ...], package: str, target: tuple[str, ...]) -> Iterator[str]:
    if target and target[0] in COMPILED:
        if module != ("core", "compiled"):
            yield f"may not import tameshi.{target[0]}: only core/compiled.py may"
        return
    if target and target[0] in PUBLIC:
        yield f"may not import tameshi.{target[0]}: the public library is for users"
        return
    # `from tameshi import x`: a package if there is one, else a name in __init__.
    lower = package_of(target) if target else "__init__"
    lower = lower if lower in PACKAGES else "__init__"
    if lower not in {package, "__init__"} | reach(PACKAGES, package):
        yield f"may not import tameshi.{lower}"


def io_in(tree: ast.Module, package: tuple[str, ...]) -> Iterator[str]:
    for name in imports(tree, package):
        if name[0] in IO_MODULES:
            yield f"may not import {name[0]}: analysis/stats does no I/O"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in {"open", "print"} or called.startswith(IO_CALLS):
                yield f"may not call {called}: analysis/stats does no I/O"


def test_crates_follow_the_law(root):
    assert list(crate_violations(root)) == []


def test_modules_follow_the_law(root):
    assert list(module_violations(root)) == []


def test_law_names_what_it_allows():
    for law in (CRATES, PACKAGES):
        assert set().union(*law.values()) <= set(law)
        for name in law:
            assert name not in reach(law, name)


def plant_crates(root: Path, **manifests: str) -> list[str]:
    (root / "Cargo.toml").write_text(
        "[workspace.dependencies]\n"
        'sim-there = { path = "crates/sim" }\n'
        'pg = { package = "postgres", version = "1" }\n'
    )
    for crate, manifest in manifests.items():
        (root / "crates" / crate).mkdir(parents=True)
        (root / "crates" / crate / "Cargo.toml").write_text(manifest)
    return list(crate_violations(root))


def test_crates_that_break_the_law_are_found(tmp_path):
    found = plant_crates(
        tmp_path,
        base='[dependencies]\nw = { path = "../workload" }\n',
        spec='[dev-dependencies]\nw = { path = "../workload" }\n',
        sim="[build-dependencies]\npg.workspace = true\n",
        record="[dev-dependencies]\nio-uring = '0.1'\n",
        oltp="[target.'cfg(unix)'.dependencies]\nsim-there.workspace = true\npg.workspace = true\n",
        emulate='[dependencies]\nb = { path = "../base" }\n',
        new="",
    )
    assert found == [
        "crates/base may not depend on crates/workload",
        f"crates/new is not in the import law: add it to CRATES in {HERE}",
        "crates/oltp may not depend on crates/sim",
        "crates/record may not depend on io-uring: only crates/blockio and crates/emulate may",
        "crates/sim may not depend on postgres: only crates/oltp may",
    ]


def test_modules_that_break_the_law_are_found(tmp_path):
    planted = {
        "__init__.py": "__version__ = ''",
        "analysis/stats/mean.py": "import os.path\nimport scipy.io\nopen('x')\nf.write_csv('y')",
        "core/compiled.py": "from tameshi import _tameshi\nfrom .errors import Oops",
        "extra.py": "",
        "guard/folders.py": "from ..record import x",
        "report/render/draw.py": "from . import html\nfrom ..sections import why\n"
        "from tameshi.run import go\nfrom tameshi import _tameshi",
        "record/store.py": "from tameshi.guard import Lease\nfrom tameshi import Study",
        "run/worker.py": "import tameshi.run.stream_work\nfrom tameshi import report, __version__",
    }
    for name, text in planted.items():
        path = tmp_path / "python" / "tameshi" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    stats = "python/tameshi/analysis/stats/mean.py may not"
    drawing = "python/tameshi/report/render/draw.py may not import"
    assert list(module_violations(tmp_path)) == [
        f"{stats} import os: analysis/stats does no I/O",
        f"{stats} call open: analysis/stats does no I/O",
        f"{stats} call write_csv: analysis/stats does no I/O",
        f"python/tameshi/extra.py is not in the import law: add extra to PACKAGES in {HERE}",
        "python/tameshi/guard/folders.py may not import tameshi.record",
        "python/tameshi/record/store.py may not import tameshi.Study: the public library is for "
        "users",
        f"{drawing} tameshi.report.sections",
        f"{drawing} tameshi.run",
        f"{drawing} tameshi._tameshi: only core/compiled.py may",
        "python/tameshi/run/worker.py may not import tameshi.report",
    ]


def test_a_worker_starts_without_what_only_plans_and_results_need() -> None:
    results = ("polars", "plotly", "scipy", "numpy", "jinja2")
    plans = ("pydantic", "psutil", "tameshi.core.spec_types", "tameshi.guard")
    words = "import sys, tameshi.run.worker, tameshi.run.fork_server; "
    words += f"print([m for m in {results + plans} if m in sys.modules])"
    told = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
