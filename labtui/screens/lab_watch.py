"""What is seen of the server while the lab is open: its figures, its GPUs and the end of its log, look after look."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.message import Message

from labtui.errors import is_explained
from labtui.screens.page import Page
from labtui.widgets.server_lines import ServerMoment
from labtui.widgets.server_panel import ServerPanel

if TYPE_CHECKING:
    from labtui.serving.gpu import Gpu
    from labtui.serving.live_figures import FigureReader, Figures
    from labtui.serving.live_history import History
    from labtui.serving.log_tail import LogFollower
    from labtui.serving.status import Status

LOG_TAIL = 80


@dataclass(frozen=True, slots=True)
class Watched:
    """What one look at a running server gave. log_path: the file that log is the end of."""

    figures: Figures | None
    gpus: tuple[Gpu, ...]
    log: tuple[str, ...]
    log_path: Path | None


class ServerWatch(Page):
    """A page with a ServerPanel that shows one moment of the server."""

    class ServerWatched(Message):
        """A newer look replaces one that still waits: a flood of log lines cannot queue up."""

        def __init__(self, watched: Watched) -> None:
            super().__init__()
            self.watched = watched

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, ServerWatch.ServerWatched)

    def __init__(self) -> None:
        super().__init__()
        self._moment = ServerMoment()
        self._watching = False
        self._reader: tuple[str, FigureReader] | None = None
        self._follower: LogFollower | None = None
        self._history: tuple[str | None, History] | None = None

    def show_server(self, moment: ServerMoment) -> None:
        self._moment = moment
        wide, tall = self.has_class("-wide"), self.size.height >= 30
        room = max(1, self.size.height - 14) if wide else 4 if tall else 1
        self.query_one(ServerPanel).show(moment, log_room=room, long=wide)

    def _watch(self, status: Status) -> None:
        if not self._watching and self.is_current:
            self._watching = True
            self.run_worker(partial(self._look, status), group="watch", thread=True, exit_on_error=False)

    def _look(self, status: Status) -> None:
        from labtui.serving.gpu import gpus

        try:
            figures = self._figures(status)
            log, path = self._log_tail()
            self.post_message(self.ServerWatched(Watched(figures, gpus(), log, path)))
        except Exception as error:
            if not is_explained(error):
                raise
        finally:
            self._watching = False

    def _figures(self, status: Status) -> Figures | None:
        from labtui.serving.live_figures import FigureReader

        name = f"{status.launch_id} {status.url}"
        if not status.usable:
            return None
        if self._reader is None or self._reader[0] != name:
            self._reader = (name, FigureReader(self.lab.supervisor.endpoint()))
        return self._reader[1].look()

    def _log_tail(self) -> tuple[tuple[str, ...], Path | None]:
        from labtui.serving.log_tail import LogFollower

        path = self.lab.supervisor.log_path
        if path is None:
            return (), None
        if self._follower is None or self._follower.path != path:
            self._follower = LogFollower(path)
        self._follower.poll()
        lines = list(self._follower.lines)[-LOG_TAIL:]
        if self._follower.last_line and (not lines or lines[-1] != self._follower.last_line):
            lines.append(self._follower.last_line)
        return tuple(lines), path

    @on(ServerWatched)
    def _server_watched(self, event: ServerWatched) -> None:
        seen = event.watched
        rates, kv = self._past(seen)
        self.show_server(replace(self._moment, figures=seen.figures, gpus=seen.gpus, log=seen.log, rates=rates, kv=kv))

    def _past(self, seen: Watched) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
        """Delivered tokens per second and KV use of this server, look after look."""
        from labtui.serving.live_history import History, Moment

        status = self.lab.server_status
        if status is None or seen.figures is None:
            return (), ()
        if self._history is None or self._history[0] != status.launch_id:
            self._history = (status.launch_id, History())
        history = self._history[1]
        history.add(Moment(time.monotonic(), seen.figures, seen.gpus))
        return tuple(history.series("delivered_tps")), tuple(history.series("kv_share"))
