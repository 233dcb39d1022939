"""What is drawn of a sweep, whatever draws it: panels of bars, every bar with its number written out. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from exercises.speed import format_rate

TITLES: Mapping[str, str] = {
    "kinds": "kind of prompt",
    "concurrency": "requests at once",
    "steps": "cap on denoising steps",
}
NOT_MEASURABLE = "not measurable"
QUEUEING = "queueing"
UNKNOWN_TOGETHER = (
    "How many requests this server runs together is not known: from some number on, a point measures queueing."
)


@dataclass(frozen=True, slots=True)
class Bar:
    """One point. value: None where it could not be measured, with the reason. shown: the number with its unit.

    interval: where the true median may lie, in words; empty where there are too few runs for one.
    queues: more requests at once than the server runs together, so that some of them waited.
    """

    label: str
    value: float | None
    shown: str
    reason: str = ""
    interval: str = ""
    queues: bool = False

    @property
    def note(self) -> str:
        """What must stand beside the number."""
        parts = (self.reason if self.value is None else self.interval, QUEUEING if self.queues else "")
        return " · ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Panel:
    """key: of the definitions of the sweep."""

    title: str
    key: str
    definition: str
    bars: tuple[Bar, ...]

    def share(self, bar: Bar) -> float:
        """How long the bar is, the longest one being 1; 0 for what could not be measured."""
        longest = max((one.value for one in self.bars if one.value is not None), default=0.0)
        return 0.0 if bar.value is None or longest <= 0 else bar.value / longest


def panels_of(document: Mapping[str, Any]) -> tuple[Panel, ...]:
    """document: as exercises.sweep.sweep_to_json, or an older one that was kept.

    By requests at once: all together, then each request; else the rate end to end. Then the steps per canvas.
    """
    points, known = document["points"], document["definitions"]
    together = document["axis"] == "concurrency"
    rate = "aggregate_tps" if together else "per_stream_tps"
    panels = [
        Panel("all requests together" if together else "end to end", rate, known[rate], _bars(document, points, True))
    ]
    if together:
        each = tuple(_each(point) for point in points)
        panels.append(Panel("each request, median", "per_stream_tps", known["per_stream_tps"], each))
    steps = _bars(document, points, False)
    panels.append(Panel("steps per canvas", "steps_per_canvas", known["steps_per_canvas"], steps))
    return tuple(panels)


def table_of(document: Mapping[str, Any]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The same numbers as a table: its header, and a row for each point with how many answers passed their check."""
    panels = panels_of(document)
    first, *others = (panel.title for panel in panels)
    header = (TITLES.get(document["axis"], document["axis"]), first, "interval", *others, "check")
    rows: list[tuple[str, ...]] = []
    for at, point in enumerate(document["points"]):
        rate, *rest = (panel.bars[at] for panel in panels)
        interval = rate.interval or ("" if rate.value is None else "too few rounds")
        checked = f"{point['summary']['passed']} of {point['summary']['counted']} passed"
        shown = [
            f"{bar.shown}: {bar.reason}" if bar.value is None and bar.reason else bar.shown for bar in (rate, *rest)
        ]
        queueing = f" ({QUEUEING})" if rate.queues else ""
        rows.append((rate.label, f"{shown[0]}{queueing}", interval, *shown[1:], checked))
    return header, rows


def sweep_title(document: Mapping[str, Any]) -> str:
    """ "sweep by requests at once · coding · bf16". The task stands in it where all points have the same."""
    tasks = {str(point.get("task", "")) for point in document["points"]}
    task = [] if document["axis"] == "kinds" or len(tasks) != 1 else [next(iter(tasks))]
    by = TITLES.get(document["axis"], document["axis"])
    checkpoint = str(document["checkpoint"])
    practice = " · practice" if document["practice"] and checkpoint != "practice" else ""
    return " · ".join(part for part in (f"sweep by {by}", *task, f"{checkpoint}{practice}") if part)


def sweep_facts(document: Mapping[str, Any]) -> str:
    """What stands under the title: its id, and how many rounds a point's median is of."""
    rounds = document.get("rounds")
    of = "" if rounds is None else f"{rounds} round{'' if rounds == 1 else 's'} a point"
    return " · ".join(part for part in (str(document["id"]), of) if part)


def remarks_of(document: Mapping[str, Any]) -> tuple[str, ...]:
    """What must be known beside the bars: points that measure queueing, and points that have no runs."""
    found: list[str] = []
    if document["axis"] == "concurrency" and document["points"]:
        together = document.get("runs_together")
        waiting = [str(point["label"]) for point in document["points"] if _queues(document, point)]
        if together is None:
            found.append(UNKNOWN_TOGETHER)
        elif waiting:
            one = len(waiting) == 1
            which = waiting[0] if one else f"{', '.join(waiting[:-1])} and {waiting[-1]}"
            measures = "that point measures" if one else "those points measure"
            found.append(
                f"This server runs {together} request{'' if together == 1 else 's'} together (--max-num-seqs): at "
                f"{which} at once some wait, so {measures} queueing too."
            )
    asked = document.get("asked", len(document["points"]))
    if len(document["points"]) < asked:
        found.append(f"{len(document['points'])} of {asked} points have runs.")
    return tuple(found)


def _bars(document: Mapping[str, Any], points: Sequence[Mapping[str, Any]], rate: bool) -> tuple[Bar, ...]:
    key = "aggregate_tps" if rate else "steps_per_canvas"
    return tuple(
        Bar(
            str(point["label"]),
            point[key],
            _shown(point[key], rate),
            str(point.get(f"{key}_reason") or ""),
            _interval(point.get(f"{key}_interval"), rate),
            rate and _queues(document, point),
        )
        for point in points
    )


def _each(point: Mapping[str, Any]) -> Bar:
    values = point["summary"]["values"]
    spread = values["end_to_end_tps"]
    value = None if spread is None else float(spread["median"])
    interval = None if spread is None else spread.get("interval")
    return Bar(
        str(point["label"]),
        value,
        _shown(value, True),
        str(values.get("end_to_end_tps_reason") or ""),
        _interval(None if interval is None else (interval["low"], interval["high"]), True),
    )


def _queues(document: Mapping[str, Any], point: Mapping[str, Any]) -> bool:
    together = document.get("runs_together")
    return together is not None and point.get("streams", 1) > together


def _shown(value: float | None, rate: bool) -> str:
    if value is None:
        return NOT_MEASURABLE
    return format_rate(value) if rate else f"{value:.3g}"


def _interval(ends: Sequence[float] | None, rate: bool) -> str:
    if ends is None:
        return ""
    low, high = (_shown(end, rate).removesuffix(" tok/s") for end in ends)
    return f"{low} to {high}"
