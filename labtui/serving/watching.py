"""What a launched server is doing, put together from its log, /health and our own one-token request."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from labtui.serving import hub_cache, processes, readiness
from labtui.serving.diagnosis import Cause, diagnose
from labtui.serving.log_tail import LogFollower
from labtui.serving.readiness import Health, Unanswered
from labtui.serving.stages import StageTracker
from labtui.serving.stall import Progress, progressed
from labtui.serving.state import ServerState, StateFile
from labtui.serving.status import Status

PROBE_TIMEOUT_S = 900.0
PROBE_AGAIN_AFTER_S = 3.0
PAGE_EVERY_S = 1.0
PAGE_TIMEOUT_S = 1.0
LOG_END_BYTES = 4 << 20
STRANGER = "our server has not opened it yet and will end when it tries. Stop one of the two, or start with --port"
BEFORE_WEIGHTS = ("launch", "config", "engine", "load", "download")


def unrecorded(launch_id: str) -> ServerState:
    """A stand-in for a launch whose record is lost: enough to stop what carries its mark."""
    return ServerState(launch_id, "launched", url="", model="", checkpoint="", practice=False, started_at=time.time())


class Watch:
    """Keeps one reader per launch, so that a log is read once and not at every look."""

    def __init__(self, file: StateFile, ready_estimate: Callable[[str], float | None]) -> None:
        self._file = file
        self._ready_estimate = ready_estimate
        self._launch_id: str | None = None
        self._follower: LogFollower | None = None
        self._tracker = StageTracker()
        self._probe: _Probe | None = None
        self._progress: Progress | None = None
        self._diagnosed: tuple[str, int, tuple[Cause, ...]] | None = None

    def running(self, state: ServerState, wait_s: float) -> Status:
        self._read_log(state)
        tracker = self._tracker
        base = self._base(state)
        if state.pid is None:
            return replace(base, state="starting", message="the process is just being started")
        health = readiness.health(state.url)
        if state.stopping_at is not None:
            return self._dying(base, "it was asked to stop")
        if state.ready_at is not None:
            return self._ready(base, health)
        if health is not Health.ABSENT and _is_somebody_else(state):
            # Nothing of ours is sent there: the first request would carry the key.
            return replace(
                base, state="starting", message=f"another process answers on port {_port(state)}: {STRANGER}"
            )
        if tracker.ending and health is not Health.ALIVE:
            return self._dying(base, self._reason(state))
        if not tracker.complete and health is not Health.ALIVE:
            return replace(base, state="starting")
        if health is not Health.ALIVE:
            waiting = {
                Health.DEAD: "start-up is complete, but /health answers that the engine is not there",
                Health.SILENT: "start-up is complete, but /health does not answer in time",
                Health.ABSENT: "start-up is complete, but nothing listens on the port",
            }
            return replace(base, state="warming", message=waiting[health])
        problem = self._answered(state, wait_s)
        if problem is not None:
            return replace(base, state="warming", stage="waiting for one token", message=problem)
        state = self._note_ready(state)
        return replace(self._base(state), state="ready", stage=None, stage_id=None, share=None)

    def ended(self, state: ServerState) -> Status:
        """It died: nothing of it is left. "foreign" where its port is answered by somebody else."""
        self._read_log(state)
        base = replace(self._base(state), pid=None, since_s=None, exit_code=state.exit_code)
        if state.url and readiness.health(state.url) is Health.ALIVE:
            message = f"our server has ended ({self._reason(state)}), and another one answers on its port"
            return replace(
                base,
                state="foreign",
                message=message,
                causes=self._fatal_causes(state),
                checkpoint=None,
                practice=False,
                stage=None,
            )
        return replace(base, state="stopped", causes=self._fatal_causes(state), message=self._reason(state))

    def leftover(self, state: ServerState, left: Sequence[psutil.Process]) -> Status:
        self._read_log(state)
        if state.stopping_at is not None:
            return self._dying(self._base(state), "it was asked to stop")
        names = ", ".join(processes.describe(one) for one in left)
        return self._dying(
            self._base(state), f"the server is gone, this is left: {names}. labtui serve stop --leftovers ends it"
        )

    # --- the log

    def _read_log(self, state: ServerState) -> None:
        if state.launch_id != self._launch_id:
            self._launch_id = state.launch_id
            self._tracker = StageTracker()
            self._follower = LogFollower(Path(state.log_path)) if state.log_path else None
            self._probe = None
            self._progress = None
        if self._follower is not None:
            self._tracker.feed_all(self._follower.poll())

    def _base(self, state: ServerState) -> Status:
        tracker = self._tracker
        words, share = self._stage(state)
        version = tracker.facts.get("version")
        length = tracker.facts.get("max_model_len")
        return Status(
            "starting",
            stage=words,
            stage_id=tracker.stage.id,
            share=share,
            pid=state.pid,
            url=state.url,
            checkpoint=state.checkpoint,
            practice=state.practice,
            since_s=max(0.0, time.time() - state.started_at),
            estimate_s=self._ready_estimate(state.plan_key) if state.plan_key else None,
            ready_after_s=state.ready_after_s,
            last_line=self._follower.last_line if self._follower is not None else "",
            launch_id=state.launch_id,
            plan_key=state.plan_key,
            model=state.model,
            vllm_version=str(version) if version else state.vllm_version,
            max_model_len=int(length) if isinstance(length, int | float) else state.max_model_len,
            log_path=Path(state.log_path) if state.log_path else None,
            facts=dict(tracker.facts),
        )

    def _stage(self, state: ServerState) -> tuple[str, float | None]:
        """vLLM says nothing while it downloads: the bytes in the cache do."""
        tracker = self._tracker
        if state.download_gb and state.root and tracker.stage.id in BEFORE_WEIGHTS and tracker.stage.id != "launch":
            cached = hub_cache.cached_model(state.root)
            if cached is not None and not cached.complete and cached.bytes > 0:
                here = cached.bytes / 1e9
                words = f"downloading weights, {here:.1f} of {state.download_gb:.1f} GB"
                return words, min(1.0, here / state.download_gb)
        if tracker.share is not None:
            return f"{tracker.stage.words} {tracker.share:.0%}", tracker.share
        return tracker.stage.words, None

    def _fatal_causes(self, state: ServerState) -> tuple[Cause, ...]:
        """What may have ended it; refused requests are no such thing. Diagnosed again only when the log has grown."""
        if not state.log_path:
            return ()
        text = _text_of(Path(state.log_path))
        known = self._diagnosed
        if known is None or known[:2] != (state.launch_id, len(text)):
            known = (state.launch_id, len(text), tuple(one for one in diagnose(text) if one.fatal))
            self._diagnosed = known
        return known[2]

    def _reason(self, state: ServerState) -> str:
        if causes := self._fatal_causes(state):
            return causes[0].title
        if state.exit_code is not None:
            return f"it ended with exit code {state.exit_code}; no known cause is in its log"
        return "it has ended; no known cause is in its log"

    # --- ready

    def _ready(self, base: Status, health: Health) -> Status:
        ready = replace(base, state="ready", stage=None, stage_id=None, share=None)
        if health in (Health.ALIVE, Health.SILENT):
            stalled = self._stalled(ready.url)
            message = "" if health is Health.ALIVE else "it is busy: /health did not answer in time"
            if stalled is not None:
                message = f"stalled: requests are running and have got nothing for {stalled:.0f} s"
            return replace(ready, stalled_s=stalled, message=message)
        what = "its engine has died" if health is Health.DEAD else "it no longer listens"
        return self._dying(base, f"{what}: {base.last_line}" if base.last_line else what)

    def _stalled(self, url: str | None) -> float | None:
        """From the metrics page, which is not read at every status: several people may ask for one at once."""
        # A command that only asks where a start stands needs no parser of metrics pages.
        from labtui.serving import live_figures

        known = self._progress
        if known is None or time.monotonic() - known.sign.at_s >= PAGE_EVERY_S:
            reading = live_figures.look_once(url or "", PAGE_TIMEOUT_S)
            if reading is not None:
                self._progress = progressed(known, reading.sign)
        return None if self._progress is None else self._progress.stalled_s()

    def _dying(self, base: Status, message: str) -> Status:
        """A stage is where a start stands: it says nothing about an end, unless the start never came to one."""
        if self._tracker.complete:
            base = replace(base, stage=None, stage_id=None, share=None)
        return replace(base, state="dying", message=message)

    def _answered(self, state: ServerState, wait_s: float) -> str | None:
        """None once the server has answered; otherwise why it has not. At most one request of ours is under way."""
        if self._probe is None or self._probe.may_ask_again():
            self._probe = _Probe(self._file, state)
        return self._probe.result(wait_s)

    def _note_ready(self, state: ServerState) -> ServerState:
        ready = replace(state, ready_at=time.time())
        with self._file.try_locked() as free:
            now = self._file.read() if free else None
            if now is not None and now.launch_id == state.launch_id and now.ended is None and now.stopping_at is None:
                self._file.write(replace(now, ready_at=ready.ready_at))
        return ready


class _Probe:
    """Our own one-token request, in a thread: its first answer may take a minute while kernels are compiled.

    Other labtui processes hold back meanwhile: two first requests at once were seen to stall for 38 s.
    """

    def __init__(self, file: StateFile, state: ServerState) -> None:
        self._file = file
        self._state = state
        self._problem: str | None = "its first answer is under way"
        self._finished_at: float | None = None
        self._thread = threading.Thread(target=self._ask, name="labtui-probe", daemon=True)
        self._thread.start()

    def result(self, wait_s: float) -> str | None:
        self._thread.join(wait_s)
        return self._problem

    def may_ask_again(self) -> bool:
        finished = self._finished_at
        return finished is not None and self._problem is not None and time.monotonic() - finished > PROBE_AGAIN_AFTER_S

    def _ask(self) -> None:
        state = self._state
        try:
            with self._file.try_locked("probe.lock") as free:
                if not free:
                    self._problem = "another labtui is waiting for its first answer"
                    return
                readiness.ask_for_one_token(state.url, state.api_key, state.model, PROBE_TIMEOUT_S)
                self._problem = None
        except Unanswered as problem:
            self._problem = f"it lives, but our one-token request got no answer: {problem.reason}"
        finally:
            self._finished_at = time.monotonic()


def _is_somebody_else(state: ServerState) -> bool:
    """The answer on the port is not proved ours: no process of this launch listens there."""
    return state.pid is not None and processes.listens(state.pid, _port(state)) is False


def _port(state: ServerState) -> int:
    return urlsplit(state.url).port or 0


def _text_of(path: Path) -> str:
    """The log, or the end of a very long one."""
    try:
        with path.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - LOG_END_BYTES))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
