"""serve live: what the running server does, from its metrics page and the driver."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from labtui.cli.lazy_group import LabCommand
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE

if TYPE_CHECKING:
    from labtui.serving.live_history import History, Moment

CURVE_WIDTH = 30


@click.command(cls=LabCommand)
@click.option("--every", type=click.FloatRange(0.2, 60), default=2.0, show_default=True, metavar="S", help="Seconds.")
@click.option("--looks", type=click.IntRange(min=1), metavar="N", help="End after N looks; without it on Ctrl-C.")
@json_option
@pass_session
def live(session: Session, every: float, looks: int | None, as_json: bool) -> int:
    """Requests, KV cache, tokens per second, canvases and the card, look after look. A dash: the page has it not.

    With --json one object a line. A figure that needs two looks, or an idle server, comes when it can.
    """
    from labtui.serving.gpu import gpus
    from labtui.serving.live_figures import FigureReader
    from labtui.serving.live_history import History, Moment

    reader = FigureReader(session.supervisor().endpoint())
    history = History()
    seen = 0
    try:
        while True:
            history.add(moment := Moment(time.monotonic(), reader.look(), gpus()))
            if as_json:
                # Numbers and null alone: nothing in it could steer a terminal, and one look is one line.
                click.echo(json.dumps(_json(moment), allow_nan=False))
            else:
                for line in live_lines(moment, history):
                    click.echo(line)
            seen += 1
            if looks is not None and seen >= looks:
                return DONE
            time.sleep(every)
    except KeyboardInterrupt:
        return DONE
    finally:
        reader.close()


def _json(moment: Moment) -> dict[str, Any]:
    cards = [
        {
            "index": card.index,
            "memory_used_gib": round(card.total_gib - card.free_gib, 2),
            "memory_total_gib": round(card.total_gib, 2),
            "utilization_percent": card.utilization_percent,
            "power_w": card.power_w,
            "temperature_c": card.temperature_c,
        }
        for card in moment.cards
    ]
    return asdict(moment.figures) | {"gpus": cards}


def live_lines(moment: Moment, history: History) -> Iterator[str]:
    from labtui.serving.live_history import curve

    seen = moment.figures

    def dash(value: float | None, form: str) -> str:
        return "–" if value is None else form.format(value)

    parts = [
        f"running {dash(seen.running, '{:.0f}')}",
        f"waiting {dash(seen.waiting, '{:.0f}')}",
        f"KV {dash(seen.kv_share, '{:.0%}')}",
        f"{dash(seen.delivered_tps, '{:,.0f}')} tok/s",
        f"first canvas {dash(seen.first_canvas_s, '{:.2f} s')}",
        f"steps {dash(seen.steps_per_canvas, '{:.1f}')}",
        f"fill {dash(seen.canvas_fill, '{:.0%}')}",
        f"prefix cache {dash(seen.prefix_cache_share, '{:.0%}')}",
        f"preempted {dash(seen.preemptions, '{:.0f}')}",
    ]
    yield " · ".join(parts)
    rates = history.series("delivered_tps")
    if any(rates):
        yield f"  tok/s {curve(rates, CURVE_WIDTH)}"
    if seen.stalled_s is not None:
        yield f"  stalled: requests are running and have got nothing for {seen.stalled_s:.0f} s"
    for card in moment.cards:
        used = card.total_gib - card.free_gib
        yield (
            f"  GPU {card.index}: {used:.1f} of {card.total_gib:.1f} GiB · {dash(card.utilization_percent, '{:.0f}')} %"
            f" busy · {dash(card.power_w, '{:.0f}')} W · {dash(card.temperature_c, '{:.0f}')} °C"
        )
