"""`tameshi hosts`: hosts as network namespaces of this machine, links between them, clean-up."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from tameshi import hosts, serve
from tameshi.commands.completion import complete_links
from tameshi.commands.consoles import ERR, OUT
from tameshi.core import compiled
from tameshi.core.errors import BadInput
from tameshi.hosts import messages, plans
from tameshi.study.bindings import slow_of
from tameshi.study.file import profiles_of, read_study

app = typer.Typer(add_completion=False)

LINK = "tcp-10gbe"
Group = Annotated[
    str | None,
    typer.Option(
        "--group", envvar="TAMESHI_HOSTS", help="Name of the group of hosts, if several are up."
    ),
]


@app.callback(invoke_without_command=True)
def hosts_command(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON alone.")] = False,
) -> None:
    """Make hosts as network namespaces, with links between them; show and remove them."""
    if context.invoked_subcommand:
        return
    states = list(hosts.hosts_states())
    if as_json:
        shown = [{**asdict(state), "is_running": state.is_running} for state in states]
        return typer.echo(json.dumps(shown, indent=2))
    for line in hosts.hosts_text(states, serve.left_drives()):
        OUT.print(line, soft_wrap=True, highlight=False)


@app.command("remove")
def remove_command() -> None:
    """Remove the hosts and drives that killed sessions left, with all programs in them."""
    plans.require_root()
    for line in [*serve.sweep_all(), *hosts.sweep_all_hosts()] or ["nothing was left"]:
        OUT.print(line, soft_wrap=True, highlight=False)


@app.command("up")
def up_command(
    names: Annotated[
        str,
        typer.Argument(
            metavar="NAME[=ADDRESS],...", help="Hosts to make, separated by commas: left,right."
        ),
    ],
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND...]", help="Command to run next to the hosts; they end with it."
        ),
    ] = None,
    link: Annotated[
        str,
        typer.Option(
            "--link",
            help="Profile of the links, of each host to each other; or FILE:NAME, a study's.",
            autocompletion=complete_links,
        ),
    ] = LINK,
    round_trip: Annotated[
        str | None, typer.Option("--round-trip", help="Round trip instead of the profile's.")
    ] = None,
    rate: Annotated[
        str | None, typer.Option("--rate", help="Bytes per second instead of the profile's.")
    ] = None,
    loss: Annotated[str, typer.Option("--loss", help="Share of lost packets, such as 1%.")] = "0",
    processors: Annotated[
        list[str] | None,
        typer.Option(
            "--processors", metavar="NAME=NUMBERS", help="Processors of a host, such as left=0,1."
        ),
    ] = None,
    quota: Annotated[
        list[str] | None,
        typer.Option(
            "--quota", metavar="NAME=SHARE", help="Processor time of a host, such as left=150%."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of what links lose.")] = 1,
    slow: Annotated[
        str, typer.Option("--slow", help="Slow motion: factor by which the links' time is slowed.")
    ] = "1",
) -> None:
    """Make hosts, each joined to each other, until Ctrl-C or the end of a command."""
    figures = _link_figures(link, round_trip, rate, loss)
    made = hosts_of(names.split(","), processors or [], quota or [])
    pairs = [(a.name, b.name) for n, a in enumerate(made) for b in made[n + 1 :]]
    plan = hosts.HostsPlan(
        hosts=tuple(made),
        links=tuple(hosts.LinkPlan(hosts=pair, **figures) for pair in pairs),
        seed=seed,
        slow=_factor(slow),
    )
    hosts.check_plan(plan)
    for line in hosts.sweep_all_hosts():
        ERR.print(line, soft_wrap=True, highlight=False)
    with hosts.HostsSession(plan, command or ()) as session:
        for line in hosts.group_lines(session.hosts.state):
            ERR.print(line, soft_wrap=True, highlight=False)
        if not command:
            name = f"tameshi hosts enter {made[0].name} -- COMMAND"
            ERR.print(f"a program in a host: {name}   end: Ctrl-C", soft_wrap=True, highlight=False)
        try:
            status = session.run()
        except KeyboardInterrupt:
            status = 0
    raise typer.Exit(status)


@app.command("enter")
def enter_command(
    host: Annotated[str, typer.Argument(help="Name of the host.")],
    words: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="Command.")],
    group: Group = None,
) -> None:
    """Run a command in a host, with the host's share of the processors."""
    plans.require_root()
    line = hosts.find_host(host, group).running(words)
    os.execvp(line[0], line)


@app.command("link")
def link_command(
    here: Annotated[str, typer.Argument(help="Name of a host.")],
    there: Annotated[str, typer.Argument(help="Name of the other host.")],
    change: Annotated[
        list[str],
        typer.Argument(
            help="cut, heal, loss SHARE, rate SIZE, round-trip TIME or slow FACTOR; or status."
        ),
    ],
    one_way: Annotated[
        bool, typer.Option("--one-way", help="Only packets from the first host to the second.")
    ] = False,
    group: Group = None,
) -> None:
    """Change a link while it is used: cut, heal, loss, rate, round-trip, slow; or show it."""
    if change == ["status"]:
        links = hosts.ask_hosts("status", group)["links"]
        chosen = [each for each in links if {here, there} == set(each["hosts"])]
        if not chosen:
            pairs = [" and ".join(each["hosts"]) for each in links]
            message, found = "no link joins these hosts", f"{here} and {there}"
            raise BadInput(message, where="hosts link", found=found, accepted=pairs)
        return typer.echo(json.dumps(chosen[0], indent=2))
    message = messages.parse_change(change)
    ways = "one-way" if one_way else "both"
    answer = hosts.ask_hosts(f"{here} {there} {ways} {message}", group)
    OUT.print(hosts.link_change_text(answer), soft_wrap=True, highlight=False)


def _link_figures(link: str, round_trip: str | None, rate: str | None, loss: str) -> dict[str, Any]:
    """Return the figures of the links from a profile or a file, and options."""
    round_trip_ns, rate_bytes = link_of(link)
    if round_trip:
        round_trip_ns = messages.round_trip_of(round_trip, "--round-trip")
    if rate:
        rate_bytes = messages.rate_of(rate, "--rate")
    return {
        "round_trip_ns": round_trip_ns,
        "rate_bytes": rate_bytes,
        "loss": messages.share_of_packets(loss, "--loss"),
        "profile": "" if round_trip or rate else link,
    }


def link_of(link: str) -> tuple[int, int]:
    """Return round trip and rate of a link profile, or of a study's link, as FILE:NAME."""
    from tameshi import devices  # showing and removing hosts needs no part of it

    path, colon, name = link.rpartition(":")
    if colon:
        study = read_study(Path(path))
        return compiled.lone_link(str(study.path), study.text, name, profiles_of(study))
    profile = devices.find_plain(link)
    if profile is None or profile.kind != "link":
        known = [each.name for each in devices.plain("link")]
        message = "there is no such link profile, and no such file"
        accepted = [*known, "FILE:NAME for [link.NAME] of a study"]
        raise BadInput(message, where="--link", found=link, accepted=accepted)
    values = {value.key: value.value for value in profile.values}
    return compiled.nanoseconds(values["round_trip"]), compiled.size_bytes(values["rate"])


def hosts_of(
    names: Sequence[str], processors: Sequence[str], quota: Sequence[str]
) -> list[hosts.HostPlan]:
    """Return the hosts of the command line; raise `BadInput` for shares of others."""
    numbers = dict(_pair("--processors", text) for text in processors)
    quotas = dict(_pair("--quota", text) for text in quota)
    made = []
    for number, text in enumerate(names):
        name, _, address = text.partition("=")
        made.append(
            hosts.HostPlan(
                name=name,
                address=address or plans.address_of(number),
                processors=_numbers(numbers.pop(name, "")),
                quota=_quota(quotas.pop(name)) if name in quotas else None,
            )
        )
    for option, left in (("--processors", numbers), ("--quota", quotas)):
        for name in left:
            accepted = [host.name for host in made]
            message = "no host has this name"
            raise BadInput(message, where=option, found=name, accepted=accepted)
    return made


def _pair(option: str, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not value:
        accepted = ["NAME=VALUE"]
        raise BadInput("this names no host", where=option, found=text, accepted=accepted)
    return name, value


def _numbers(text: str) -> tuple[int, ...]:
    if not all(part.isdecimal() for part in filter(None, text.split(","))):
        accepted = ["numbers such as 0,1"]
        raise BadInput("no processors", where="--processors", found=text, accepted=accepted)
    return tuple(int(part) for part in filter(None, text.split(",")))


def _quota(text: str) -> float:
    try:
        return float(text.removesuffix("%")) / 100
    except ValueError:
        accepted = ["a share of a processor such as 150%"]
        raise BadInput("no quota", where="--quota", found=text, accepted=accepted) from None


def _factor(text: str) -> float:
    factor = slow_of(text)
    if factor is None:
        message = "slow motion of links is a factor: their load is not known"
        raise BadInput(message, where="--slow", found=text, accepted=["a factor"])
    return factor
