"""Live figures over time, for small curves: what a panel shows beside the number of this moment."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from labtui.serving.gpu import Gpu
from labtui.serving.live_figures import Figures

KEPT_S = 300.0
BARS = "▁▂▃▄▅▆▇█"
GAP = " "


@dataclass(frozen=True, slots=True)
class Moment:
    """at_s: monotonic clock. cards: empty where there is no GPU."""

    at_s: float
    figures: Figures
    cards: tuple[Gpu, ...] = ()


Reader = Callable[[Moment], float | None]


def _of_cards(read: Callable[[Gpu], float | int | None], join: Callable[[Sequence[float]], float]) -> Reader:
    def value(moment: Moment) -> float | None:
        values = [float(one) for card in moment.cards if (one := read(card)) is not None]
        return join(values) if values else None

    return value


SERIES: Mapping[str, Reader] = MappingProxyType(
    {
        "running": lambda moment: moment.figures.running,
        "waiting": lambda moment: moment.figures.waiting,
        "kv_share": lambda moment: moment.figures.kv_share,
        "delivered_tps": lambda moment: moment.figures.delivered_tps,
        "first_canvas_s": lambda moment: moment.figures.first_canvas_s,
        "steps_per_canvas": lambda moment: moment.figures.steps_per_canvas,
        "canvas_fill": lambda moment: moment.figures.canvas_fill,
        "gpu_memory_gib": _of_cards(lambda card: card.total_gib - card.free_gib, sum),
        "gpu_utilization_percent": _of_cards(
            lambda card: card.utilization_percent, lambda values: sum(values) / len(values)
        ),
        "gpu_power_w": _of_cards(lambda card: card.power_w, sum),
        "gpu_temperature_c": _of_cards(lambda card: card.temperature_c, max),
    }
)
"""By name. Several cards: memory and power together, the mean use, the hottest."""


class History:
    """The last moments, oldest first; a missing value stays a gap."""

    def __init__(self, kept_s: float = KEPT_S) -> None:
        self._kept_s = kept_s
        self._moments: deque[Moment] = deque()

    def add(self, moment: Moment) -> None:
        self._moments.append(moment)
        while moment.at_s - self._moments[0].at_s > self._kept_s:
            self._moments.popleft()

    def series(self, name: str) -> list[float | None]:
        read = SERIES[name]
        return [read(moment) for moment in self._moments]

    def __len__(self) -> int:
        return len(self._moments)


def curve(values: Sequence[float | None], width: int, *, top: float | None = None) -> str:
    """The last `width` values as bars from 0 to top (default: the largest); a missing one is a gap."""
    shown = list(values)[-width:]
    known = [value for value in shown if value is not None]
    most = top if top is not None else max(known, default=0.0)
    signs = []
    for value in shown:
        if value is None:
            signs.append(GAP)
        elif most <= 0:
            signs.append(BARS[0])
        else:
            signs.append(BARS[min(len(BARS) - 1, max(0, int(value / most * len(BARS) - 1e-9)))])
    return "".join(signs)
