"""Parser of fio job files: jobs with their keys, as written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tameshi.core.errors import BadInput
from tameshi.study.file import read_text

GLOBAL = "global"
MOST_INCLUDES = 16
"""Depth of `include` that proves a cycle."""
_COMMENT = re.compile(r"[;#].*")
"""As in fio, a comment starts anywhere in a line."""
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_KEYWORD = re.compile(r"\$(pagesize|mb_memory|ncpus)\b")
_PRODUCT = re.compile(r"(?:(\d+)\*)?\$(pagesize|mb_memory|ncpus)\b(?:\*(\d+))?")


@dataclass(frozen=True)
class Setting:
    """Key with its value and place; a bare key has the value None."""

    key: str
    value: str | None
    where: str
    alias: str = ""
    """Key as the user wrote it, if that is another name of `key`."""
    unset: str = ""
    """Environment variable in the value that is not set."""

    @property
    def own_key(self) -> str:
        """Return the key as the user wrote it."""
        return self.alias or self.key

    def written(self) -> str:
        """Return the setting as a line of a job file."""
        return self.key if self.value is None else f"{self.key}={self.value}"


@dataclass(frozen=True)
class JobText:
    """Job: settings of the preceding `[global]` sections, and its own, which override them."""

    name: str
    where: str
    shared: Sequence[Setting]
    own: Sequence[Setting]

    def without(self, error: BadInput) -> JobText | None:
        """Return the job without the setting of an error; None if the error has no setting."""

        def kept(settings: Sequence[Setting]) -> list[Setting]:
            return [s for s in settings if (s.where, s.key) != (error.where, error.key)]

        shared, own = kept(self.shared), kept(self.own)
        fewer = len(shared) + len(own) < len(self.shared) + len(self.own)
        return replace(self, shared=shared, own=own) if fewer else None

    def with_own(self, settings: Sequence[Setting]) -> JobText:
        """Return the job with more settings of its own, which override the others."""
        return replace(self, own=(*self.own, *settings))


@dataclass
class Section:
    """Section of a job file, or the options after a `--name`."""

    name: str
    where: str
    settings: list[Setting] = field(default_factory=list)


def read_job_file(path: Path, environment: Mapping[str, str] = os.environ) -> list[JobText]:
    """Parse a job file; raise `BadInput` at an invalid line."""
    return jobs_of(_sections(path, LineReader(environment)))


def parse_job_text(
    text: str, name: str = "job.fio", environment: Mapping[str, str] = os.environ
) -> list[JobText]:
    """Parse a job file's text; `name` appears in messages and locates includes."""
    reader = LineReader(environment)
    return jobs_of(list(reader.sections(Path(name), text)))


def write_jobs(jobs: Sequence[JobText]) -> str:
    """Return a job file with these jobs, which parses to the same jobs."""
    parts = []
    shared: Sequence[Setting] = ()
    for job in jobs:
        if job.shared[: len(shared)] != shared:
            raise ValueError(f"the globals of {job.name} don't follow those of the job before it")
        if new := job.shared[len(shared) :]:
            parts.append(_section(GLOBAL, new))
        shared = job.shared
        parts.append(_section(job.name, job.own))
    return "\n".join(parts)


def _section(name: str, settings: Sequence[Setting]) -> str:
    return "\n".join([f"[{name}]", *(setting.written() for setting in settings)]) + "\n"


def _sections(path: Path, reader: LineReader) -> list[Section]:
    return list(reader.sections(path, read_text(path, "a fio job file")))


def jobs_of(sections: Sequence[Section]) -> list[JobText]:
    """Return each section with the preceding globals."""
    shared: list[Setting] = []
    jobs = []
    for section in sections:
        if section.name == GLOBAL:
            shared += section.settings
        else:
            jobs.append(JobText(section.name, section.where, (*shared,), (*section.settings,)))
    return jobs


class LineReader:
    """Parser of lines into sections; expands variables and includes."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment

    def sections(self, path: Path, text: str) -> Iterator[Section]:
        """Yield the sections of a file's text."""
        section: Section | None = None
        for where, line in _lines(text, str(path)):
            if line.startswith("["):
                if section:
                    yield section
                section = Section(_section_name(line, where), where)
                continue
            if section is None:
                message = "a setting before the first section"
                raise BadInput(message, where=where, found=line, accepted=["[global]", "[NAME]"])
            section.settings += self.line(line, where, path, 0)
        if section:
            yield section

    def line(self, line: str, where: str, path: Path, depth: int) -> Iterator[Setting]:
        """Yield the setting of a line, or those of an included file."""
        if line.split(None, 1)[0] == "include" and "=" not in line:
            yield from self.included(line, where, path, depth)
            return
        key, equals, value = line.partition("=")
        yield self.setting(key.strip(), value.strip() if equals else None, where)

    def included(self, line: str, where: str, path: Path, depth: int) -> Iterator[Setting]:
        """Yield the settings of an included file, which has no sections."""
        name = line.removeprefix("include").strip()
        if not name:
            raise BadInput("`include` without a file", where=where, accepted=["include FILE"])
        if depth >= MOST_INCLUDES:
            raise BadInput("files include one another in a cycle", where=where, found=name)
        other = path.parent / name
        for place, inner in _lines(read_text(other, "a file of fio settings"), str(other)):
            if inner.startswith("["):
                message = "an included file must not have sections"
                raise BadInput(message, where=place, found=inner)
            yield from self.line(inner, place, other, depth + 1)

    def setting(self, key: str, value: str | None, where: str) -> Setting:
        """Return a key and its value, with environment variables and fio's keywords expanded."""
        if not key:
            raise BadInput("a setting without a key", where=where, found=f"={value or ''}")
        named = _VARIABLE.findall(value or "")
        unset = next((name for name in named if name not in self.environment), "")
        if value is not None:
            value = _VARIABLE.sub(lambda match: self.environment.get(match[1], ""), value)
            value = _PRODUCT.sub(_keyword, value)
            value = _KEYWORD.sub(lambda match: str(_amount(match[1])), value)
        return Setting(key, value, where, unset=unset)


def _lines(text: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield non-empty lines with their places."""
    for number, line in enumerate(text.splitlines(), 1):
        said = _COMMENT.sub("", line).strip()
        if said:
            yield f"{name}:{number}", said


def _section_name(line: str, where: str) -> str:
    name, bracket, _ = line[1:].partition("]")
    if not bracket or not name.strip():
        raise BadInput("not a section header", where=where, found=line, accepted=["[NAME]"])
    return name.strip()


def _keyword(match: re.Match[str]) -> str:
    factors = [int(factor) for factor in (match[1], match[3]) if factor]
    product = _amount(match[2])
    for factor in factors:
        product *= factor
    return str(product)


def _amount(keyword: str) -> int:
    """Return the value of a reserved word on this machine."""
    page = os.sysconf("SC_PAGE_SIZE")
    match keyword:
        case "pagesize":
            return page
        case "mb_memory":
            return page * os.sysconf("SC_PHYS_PAGES") // (1 << 20)
        case _:
            return os.sysconf("SC_NPROCESSORS_ONLN")
