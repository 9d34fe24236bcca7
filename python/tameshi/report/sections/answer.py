"""Answer of a report in sentences, and its table of key figures."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tameshi.core.units import format_value
from tameshi.report.sections import (
    aging,
    answer_tables,
    empty_phases,
    failovers,
    failures,
    outages,
    power_cuts,
    sustainable_load,
    unknown_settings,
)
from tameshi.report.sections.effects import (
    LATENCY,
    LIFE,
    Effect,
    effects,
    few,
)
from tameshi.report.view.key_figures import (
    MEAN,
    P99,
    KeyFigure,
    PhasePair,
    phase_pairs,
    plain_figures,
    ratio_of,
    sweep_figures,
)
from tameshi.report.view.points import (
    Axis,
    Name,
    Point,
    View,
    family_of,
    level_on,
    lowest_level,
    only_stream,
)
from tameshi.report.view.tables import (
    Answer,
    Clause,
    Column,
    Row,
    Table,
    estimates_table,
    said,
    value_cell,
)
from tameshi.report.words.text import DAYS, Shown, Text, modelled

# Items of a sentence; of more only the extremes appear.
MOST_ITEMS = 6
MOST_COMMITS = 4
Group = tuple[str, Name]
"""Phase, and the committing stream in it."""


def answers(view: View, text: Text) -> list[Answer]:
    """Return the lines of the answer, most important first: the study's own tables, failures,
    searches, effects, peaks."""
    pairs_all = phase_pairs(view)
    pairs = _most_disturbed(pairs_all)
    paired = {phase for pair in pairs_all for phase in (pair.first, pair.second)}
    lines = answer_tables.answers(view, text)
    first: dict[str, Callable[[str], Sequence[str]]] = {
        "power_cuts": lambda world: power_cuts.summarise(view, text, world),
        "failures": lambda world: failures.summarise(view, text, world, MOST_ITEMS // 2),
        "limit": lambda world: sustainable_load.summarise(view, text, world, MOST_ITEMS),
        "effect": lambda world: _effect_items(view, text, world),
        "failovers": lambda world: failovers.summarise(view, text, world),
        "cut": lambda world: aging.cuts(view, text, world),
        "retry": lambda world: aging.retries(view, text, world),
        "empty": lambda world: empty_phases.summarise(view, text, world),
        "unknown": lambda world: unknown_settings.summarise(view, text, world),
    }
    for key, items in first.items():
        lines += _items_answer(view, text, key, items)
    pairs_answer = _interference_answer(view, text, pairs)
    if view.answer.get("table"):
        return lines + pairs_answer
    plain: list[KeyFigure] = []
    swept: list[tuple[list[KeyFigure], Axis]] = []
    for phase in view.phases:
        axis = view.sweep_axis(phase)
        if axis is None:
            plain += sustainable_load.within_limit(view, plain_figures(view, phase))
        elif key_figures := sustainable_load.within_limit(view, sweep_figures(view, phase, axis)):
            swept.append((key_figures, axis))
    for key_figures, axis in swept:
        lines += _sweep_answers(view, text, key_figures, axis, several=len(swept) > 1)
    loose = [f for f in plain if f.phase not in paired and f.operation != "commit"]
    lines += _plain_answer(view, text, "throughput", loose, lambda f: f.measure != P99)
    lines += _commit_answer(view, text, _own_commits(plain, pairs_all))
    lines += pairs_answer
    lines += _plain_answer(view, text, "tail", loose, lambda f: f.measure == P99)
    return lines


def _items_answer(
    view: View, text: Text, key: str, items: Callable[[str], Sequence[str]]
) -> list[Answer]:
    """Return a line with a clause for each world; none without content."""

    def say(world: str) -> str:
        joined = text("list.separator").join(items(world))
        return text(f"sentence.{key}", items=joined[:1].upper() + joined[1:]) if joined else ""

    clauses = _clauses(view, text, say)
    return [Answer(text(f"answer.{key}"), clauses)] if clauses else []


def _effect_items(view: View, text: Text, world: str) -> list[str]:
    """Return lost commits, effects of each change, and outages.

    Of many outages only the longest by each event.
    """
    lost = outages.lost(view, text, world)
    broken = outages.summarise(view, text, world, MOST_ITEMS - MOST_ITEMS // 2)
    most = MOST_ITEMS - len(broken)
    # Tables say what the study asks; without any, each change is compared.
    chosen = [] if view.answer.get("table") else few(effects(view, world, most), most)
    return [*lost, *(_effect(view, text, effect) for effect in chosen), *broken]


_EFFECT_KEYS = {"rate": "", LIFE: "_life", LATENCY: "_latency"}


def _effect(view: View, text: Text, effect: Effect) -> str:
    """Return the effect of a change; with both values if it rests on two."""
    low, high = (format_value("ratio", end) for end in (effect.low, effect.high))
    over = text("item.effect_range", low=low, high=high) if low != high else ""
    interval = modelled(Shown("", interval=over), "ratio", effect.ratio, effect.model)
    programs = {point.phase for point in view.points if point.operation == "transaction"}
    several = len(programs if effect.phase in programs else view.phases) > 1
    of_phase = several and effect.phase and effect.axis != "phase"
    names = (*effect.cell, *((effect.phase,) if of_phase else ()), effect.axis)
    key = f"item.effect{_EFFECT_KEYS.get(effect.measure, '_time')}"
    fields = {}
    if effect.pair:
        key += "_one"
        pair = effect.pair
        if effect.measure == LIFE and min(p.value for p in pair) < 1:
            key += "_days"
            pair = _in_days(pair[0]), _in_days(pair[1])
        top, bottom = (_value(text, p, bare=p.low is None) for p in pair)
        fields = {"value": top, "base": bottom}
    return text(
        key,
        axis=text.names(names),
        first=text.name(effect.first),
        level=text.name(effect.level),
        ratio=format_value("ratio", effect.ratio),
        aside=text.aside(interval, bare=not over),
        **fields,
    )


def _in_days(life: Point) -> Point:
    """Return a life in days."""
    model = life.model and (life.model[0] * DAYS, life.model[1] * DAYS)
    return replace(life, value=life.value * DAYS, model=model)


def _most_disturbed(pairs: list[PhasePair]) -> list[PhasePair]:
    """Return all of a few pairs; of many only the most disturbed, as a matrix shows the others."""
    if len(pairs) <= MOST_ITEMS:
        return pairs
    committing = [
        p for p in pairs if any(a.operation == "commit" for a, _ in p.by_world.values())
    ] or pairs
    return [max(committing, key=_harm)]


def _own_commits(key_figures: list[KeyFigure], pairs: list[PhasePair]) -> list[KeyFigure]:
    """Return figures of commits; of many only those without further load."""
    commits = [f for f in key_figures if f.operation == "commit"]
    if len({(f.phase, f.name) for f in commits}) <= MOST_ITEMS:
        return commits
    beside = {pair.second for pair in pairs}
    return [f for f in commits if f.phase not in beside] or commits


def _harm(pair: PhasePair) -> float:
    """Return the growth of the tail latency in the world with the greatest one."""
    return max(after.value / (before.value or 1.0) for before, after in pair.by_world.values())


def _clauses(view: View, text: Text, say: Callable[[str], str]) -> tuple[Clause, ...]:
    sentences = ((world, say(world)) for world in view.worlds)
    return tuple(Clause(w, text.world(w), sentence) for w, sentence in sentences if sentence)


def _sentence(
    text: Text,
    key: str,
    points: Sequence[Point],
    items: Callable[[bool], Iterable[str]],
    **more: str,
) -> str:
    """Return joined items; `items` takes whether no point has an interval."""
    if not points:
        return ""
    bare = all(p.low is None for p in points)
    sentence = text(key, items=text("list.separator").join(items(bare)), **more)
    return sentence[:1].upper() + sentence[1:]


def _item(text: Text, key: str, first: bool, point: Point, bare: bool, **fields: str) -> str:
    """Return one item; the first of a list has the verb. The interval follows the unit."""
    value_shown = said(text, point)
    aside = text.aside(value_shown, bare=bare)
    key = f"{key}_first" if first else key
    return text(f"item.{key}", value=value_shown.marked, aside=aside, **fields)


def _value(text: Text, point: Point, bare: bool = False) -> str:
    value_shown = said(text, point)
    return value_shown.marked + text.aside(value_shown, bare=bare)


def _sweep_answers(
    view: View, text: Text, key_figures: list[KeyFigure], axis: Axis, *, several: bool
) -> list[Answer]:
    """Return peaks and floors of one phase, named if there are `several`."""
    peaks = [f for f in key_figures if f.kind == "peak"]
    floors = [f for f in key_figures if f.kind == "floor" and f.measure != P99]
    tails = {f.name: f.by_world for f in key_figures if f.kind == "floor" and f.measure == P99}

    def answer(topic: str, say: Callable[[str], str]) -> Answer:
        topic = _of_stream(text, topic, key_figures)
        if several:
            topic = text("answer.in_phase", topic=topic, phase=text.name(key_figures[0].phase))
        return Answer(topic, _clauses(view, text, say))

    lines = []
    if peaks:
        say = functools.partial(_say_peaks, text, peaks, axis)
        lines.append(answer(text("answer.peak"), say))
    if floors:
        topic = text("answer.floor", axis=text.name(axis.name), level=lowest_level(axis))
        lines.append(answer(topic, functools.partial(_say_floors, text, floors, tails)))
    return lines


def _of_stream(text: Text, words: str, key_figures: Iterable[KeyFigure]) -> str:
    """Return the words with the only stream that the figures are of, unless they name it."""
    stream = only_stream(p for f in key_figures for p in f.by_world.values())
    named = any(stream in f.name for f in key_figures)
    return text.names((words, stream)) if stream and not named else words


def _extremes(key_figures: list[KeyFigure], world: str) -> list[KeyFigure]:
    """Return all of a few figures; of many the maximum and minimum of each operation."""
    here = [f for f in key_figures if world in f.by_world]
    if len(here) <= MOST_ITEMS:
        return here
    ends = set()
    for operation in {f.operation for f in here}:
        alike = sorted(
            (i for i, f in enumerate(here) if f.operation == operation),
            key=lambda i: here[i].by_world[world].value,
        )
        ends |= {alike[0], alike[-1]}
    return [here[i] for i in sorted(ends)]


def _and_others(
    text: Text, key_figures: list[KeyFigure], listed: list[KeyFigure], world: str
) -> list[str]:
    """Return the range of the figures left out."""
    others = sum(world in f.by_world for f in key_figures) - len(listed)
    return [text("item.others", count=str(others))] if others else []


def _say_peaks(text: Text, key_figures: list[KeyFigure], axis: Axis, world: str) -> str:
    here = _extremes(key_figures, world)
    levels = [level_on(f.by_world[world].levels, axis) for f in here]
    same = len(here) > 1 and len(set(levels)) == 1
    place = {"axis": text.name(axis.name), "level": levels[0] if levels else ""}

    def items(bare: bool) -> Iterator[str]:
        for i, (key_figure, level) in enumerate(zip(here, levels, strict=True)):
            large = i == 0 and key_figure.measure == "bandwidth"
            unit = "_transactions" if key_figure.operation == "transaction" and i == 0 else ""
            item = _item(
                text,
                "peak_bandwidth" if large else f"peak{unit}",
                i == 0,
                key_figure.by_world[world],
                bare,
                name=text.names(key_figure.name),
            )
            yield item if same else item + text("item.at", **(place | {"level": level}))
        yield from _and_others(text, key_figures, here, world)

    points = [f.by_world[world] for f in here]
    return _sentence(
        text, "sentence.peak_same" if same else "sentence.peak", points, items, **place
    )


def _say_floors(
    text: Text, key_figures: list[KeyFigure], tails: Mapping[Name, Mapping[str, Point]], world: str
) -> str:
    here = _extremes(key_figures, world)
    ends = {f.name: tails[f.name][world] for f in here if world in tails.get(f.name, {})}

    def items(bare: bool) -> Iterator[str]:
        for i, key_figure in enumerate(here):
            fields = {
                "name": text.names(key_figure.name),
                "stat": text(f"stat.{key_figure.measure}"),
            }
            tail = ends.get(key_figure.name)
            if tail:
                fields["tail"] = _value(text, tail, bare)
            key = "floor" if tail else "floor_only"
            yield _item(text, key, i == 0, key_figure.by_world[world], bare, **fields)
        yield from _and_others(text, key_figures, here, world)

    points = [f.by_world[world] for f in here] + list(ends.values())
    return _sentence(text, "sentence.floor", points, items)


def _plain_answer(
    view: View,
    text: Text,
    topic: str,
    key_figures: list[KeyFigure],
    wanted: Callable[[KeyFigure], bool],
) -> list[Answer]:
    chosen = [f for f in key_figures if wanted(f)]
    without = {phase for world in view.worlds for phase in empty_phases.phases(view, world)}
    several = len({f.phase for f in key_figures} | without) > 1

    def key_of(key_figure: KeyFigure) -> str:
        if key_figure.measure == MEAN and topic == "throughput":
            return f"{topic}_time"
        if topic != "throughput" or key_figure.measure not in ("rate", "iops"):
            return topic
        return f"{topic}_transactions" if key_figure.operation == "transaction" else f"{topic}_iops"

    def item(key_figure: KeyFigure, world: str, bare: bool, first: bool) -> str:
        name = text.names(((key_figure.phase,) if several else ()) + key_figure.name)
        key = key_of(key_figure)
        return _item(text, key, first, key_figure.by_world[world], bare, name=name)

    def say(world: str) -> str:
        here = [f for f in chosen if world in f.by_world]
        measures = list(dict.fromkeys(f.measure for f in here))

        def ends(alike: list[KeyFigure], bare: bool) -> str:
            """Return maximum and minimum of comparable figures."""
            ranked = sorted(alike, key=lambda f: f.by_world[world].value)
            best, worst = (item(ranked[i], world, bare, False) for i in (-1, 0))
            return best if len(ranked) == 1 else text("item.best", best=best, worst=worst)

        def items(bare: bool) -> list[str]:
            if len(here) <= MOST_ITEMS:
                keys = [key_of(f) for f in here]
                # The first figure of each kind has a verb.
                return [
                    item(f, world, bare, i == 0 or keys[i - 1] != keys[i])
                    for i, f in enumerate(here)
                ]
            return [ends([f for f in here if f.measure == m], bare) for m in measures]

        points = [f.by_world[world] for f in here]
        return _sentence(text, f"sentence.{topic}", points, items)

    label = _of_stream(text, text(f"answer.{topic}"), chosen)
    return [Answer(label, _clauses(view, text, say))] if chosen else []


def _commit_answer(view: View, text: Text, key_figures: list[KeyFigure]) -> list[Answer]:
    """Return commit times of each stream; of many the extremes."""
    groups = {(f.phase, f.name) for f in key_figures}

    def item(group: Group, points: Mapping[str, Point], bare: bool) -> str:
        values = {measure: _value(text, point, bare) for measure, point in points.items()}
        name = "" if len(groups) == 1 else f"{text.names((group[0], *group[1]))}: "
        rate = values.get("rate", text("cell.none"))
        if not {MEAN, P99} <= values.keys():
            return name + text("item.commit_rate", rate=rate)
        return name + text("item.commit", rate=rate, mean=values[MEAN], tail=values[P99])

    def say(world: str) -> str:
        here: dict[Group, dict[str, Point]] = {}
        for key_figure in (f for f in key_figures if world in f.by_world):
            measures = here.setdefault((key_figure.phase, key_figure.name), {})
            measures[family_of(key_figure.measure)] = key_figure.by_world[world]
        listed = list(here) if len(here) <= MOST_COMMITS else _fastest_and_slowest(here)

        def items(bare: bool) -> list[str]:
            lines = [item(group, here[group], bare) for group in listed]
            if len(listed) == len(here):
                return lines
            keys = ("item.commit_fastest", "item.commit_slowest")
            return [text(k, count=len(here), item=i) for k, i in zip(keys, lines, strict=True)]

        points = [point for group in listed for point in here[group].values()]
        return _sentence(text, "sentence.commit", points, items)

    return [Answer(text("answer.commit"), _clauses(view, text, say))] if key_figures else []


def _fastest_and_slowest(commits: Mapping[Group, Mapping[str, Point]]) -> list[Group]:
    """Return the extremes by mean time, or by rate if a time is missing."""
    timed = all(MEAN in points for points in commits.values())

    def slowness(group: Group) -> float:
        points = commits[group].get(MEAN if timed else "rate")
        return (points.value if timed else -points.value) if points else 0.0

    fastest, *_, slowest = sorted(commits, key=slowness)
    return [fastest, slowest]


def _interference_answer(view: View, text: Text, pairs: list[PhasePair]) -> list[Answer]:
    def item(pair: PhasePair, world: str, bare: bool) -> str:
        before, after = pair.by_world[world]
        ratio = _shown_ratio(view, text, after, before)
        return text(
            "item.interference",
            name=text.names(pair.name),
            first=text.name(pair.first),
            second=text.name(pair.second),
            before=_value(text, before, bare),
            after=_value(text, after, bare),
            ratio=ratio.value + text.aside(ratio, bare=bare),
        )

    def say(world: str) -> str:
        here = [pair for pair in pairs if world in pair.by_world]
        points = [point for pair in here for point in pair.by_world[world]]
        return _sentence(
            text, "sentence.interference", points, lambda bare: [item(p, world, bare) for p in here]
        )

    return [Answer(text("answer.interference"), _clauses(view, text, say))] if pairs else []


def _shown_ratio(view: View, text: Text, top: Point, bottom: Point) -> Shown:
    ratio = ratio_of(view, top, bottom)
    if ratio is None:
        return Shown(text("cell.none"))
    ratio_shown = text.shown("ratio", ratio.value, ratio.low, ratio.high, ratio.runs)
    return modelled(ratio_shown, "ratio", ratio.value, ratio.model)


def overview(view: View, text: Text) -> Table:
    """Return the key figures: a row per quantity, a column per world, a ratio of two worlds."""
    pairs = _most_disturbed(phase_pairs(view))
    two = len(view.worlds) == 2
    rows: list[Row] = _searched_rows(view, text, two)
    for phase in view.phases:
        axis = view.sweep_axis(phase)
        key_figures = sweep_figures(view, phase, axis) if axis else plain_figures(view, phase)
        key_figures = sustainable_load.within_limit(view, key_figures)
        group = _of_stream(text, text.name(phase), key_figures)
        rows += [
            replace(_figure_row(view, text, key_figure, axis, two), group=group)
            for key_figure in key_figures
        ]
        rows += [_interference_row(view, text, pair, two) for pair in pairs if pair.second == phase]
    columns = [Column(text("column.quantity")), *(Column(text.world(w)) for w in view.worlds)]
    if two:
        top, bottom = (text.world(w) for w in reversed(view.worlds))
        columns.append(Column(text("column.ratio", top=top, bottom=bottom)))
    bare = not any(cell.interval for row in rows for cell in row.cells)
    caption = text("table.overview_bare" if bare else "table.overview")
    return estimates_table(text, "overview", caption, columns, rows)


def _searched_rows(view: View, text: Text, two: bool) -> list[Row]:
    none, key_figures = Shown(text("cell.none")), sustainable_load.figures(view, text)
    rows = [(head, [by_world.get(w, none) for w in view.worlds]) for head, by_world in key_figures]
    return [Row(head, (*cells, *[none] * two)) for head, cells in rows]


def _figure_row(view: View, text: Text, key_figure: KeyFigure, axis: Axis | None, two: bool) -> Row:
    fields = {"name": text.names(key_figure.name), "measure": text.measure(key_figure.measure)}
    if key_figure.kind == "floor" and axis:
        point = next(iter(key_figure.by_world.values()))
        fields |= {"axis": text.name(axis.name), "level": level_on(point.levels, axis)}
    cells = [value_cell(text, key_figure.by_world.get(world)) for world in view.worlds]
    if key_figure.kind == "peak" and axis:
        cells = [
            _at(text, cell, axis, key_figure.by_world.get(world))
            for cell, world in zip(cells, view.worlds, strict=True)
        ]
    if two:
        top, bottom = (key_figure.by_world.get(w) for w in reversed(view.worlds))
        cells.append(
            _shown_ratio(view, text, top, bottom) if top and bottom else value_cell(text, None)
        )
    return Row(text(f"row.{key_figure.kind}", **fields), tuple(cells))


def _interference_row(view: View, text: Text, pair: PhasePair, two: bool) -> Row:
    cells = [
        _shown_ratio(view, text, *reversed(pair.by_world[world]))
        if world in pair.by_world
        else value_cell(text, None)
        for world in view.worlds
    ]
    head = text(
        "row.interference",
        name=text.names(pair.name),
        first=text.name(pair.first),
        second=text.name(pair.second),
    )
    return Row(head, (*cells, *([Shown("")] if two else [])), group=text.name(pair.second))


def _at(text: Text, cell: Shown, axis: Axis, point: Point | None) -> Shown:
    if point is None:
        return cell
    at = text("cell.at", axis=text.name(axis.name), level=level_on(point.levels, axis))
    return replace(cell, at=at)
