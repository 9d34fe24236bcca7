"""Shared by every test: the repository's root, groups of servers, examples alike on every run."""

import inspect
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

pytest_plugins = ["loop_devices", "server_fixtures", "studies", "study_files"]

settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")

GROUPED = {"mariadb", "postgresql"}
"""Products whose tests share a worker, and with it an initialised data directory."""


@cache
def has_module_fixture(module: ModuleType) -> bool:
    """Tell whether a test file makes something once for all of its tests."""
    return 'scope="module"' in inspect.getsource(module)


@cache
def serves_drives(module: ModuleType) -> bool:
    """Tell whether a test file serves drives or makes hosts, which have the machine in turn."""
    source = inspect.getsource(module)
    return "only_served_drives" in source or "only_hosts" in source


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give one worker all tests of a product, or of served drives, which start first, and of a
    module with fixtures."""
    for item in items:
        if serves_drives(item.module):
            # On two workers one would wait for the other, and use up its time.
            item.add_marker(pytest.mark.xdist_group("served"))
            continue
        call = getattr(item, "callspec", None)
        for product in GROUPED.intersection(map(str, call.params.values()) if call else ()):
            item.add_marker(pytest.mark.xdist_group(product))
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
    for item in items:
        if has_module_fixture(item.module) and not serves_drives(item.module):
            item.add_marker(pytest.mark.xdist_group(item.module.__name__))


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return Path(__file__).resolve().parent.parent


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """In CI nothing skips: what a test needs is installed there, or the test fails."""
    report = yield
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report
