"""The app: it owns what all screens share (lessons, store, server state) and opens them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.message import Message
from textual.screen import Screen

from labtui.bookkeeper import Bookkeeper
from labtui.bug_report import reported
from labtui.configuration import Configuration, write_configuration
from labtui.errors import Explained, LabError, is_explained
from labtui.screens.fault import FaultBox, StoreFaultScreen
from labtui.screens.help import HelpBox
from labtui.screens.home import HomeScreen
from labtui.screens.page import Page
from labtui.widgets.commands import KEY_NAMES, Command, bindings
from labtui.widgets.copying import copied_file
from labtui.widgets.server_words import server_words
from labtui.widgets.textual_quirks import (
    STURDY,
    clipboard_sequence,
    exit_on_hangup,
    few_colours,
    without_shades,
)
from labtui.widgets.themes import THEME_VARIABLES, THEMES

if TYPE_CHECKING:
    from labtui.serving.status import Status
    from labtui.serving.supervisor import Supervisor
    from lessons.model import Lesson

APP_COMMANDS = (
    Command("question_mark", "app.help", "help", "What this screen is for, and every key on it", display="?"),
    Command("colon", "app.command_palette", "commands", "Find any command by its name", shown=False, display=":"),
)


@dataclass(frozen=True, slots=True)
class FoundLessons:
    lessons: tuple[Lesson, ...]
    faults: tuple[Explained, ...]


class LabApp(App[None]):
    """store_path: None for the default place. lesson_paths: further lesson folders.

    supervisor, now and server_poll_s are for tests: the owner of the server's process, the clock, and how often the
    server is looked at (None: only when asked).
    """

    TITLE = "labtui"
    CSS_PATH = "labtui.tcss"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(*APP_COMMANDS),
        Binding("ctrl+q", "quit", "quit", show=False, priority=True, tooltip="Leave labtui; the server stays"),
    ]

    class LessonsFound(Message):
        def __init__(self, found: FoundLessons) -> None:
            super().__init__()
            self.found = found

    class StoreOpened(Message):
        def __init__(self, notices: tuple[str, ...]) -> None:
            super().__init__()
            self.notices = notices

    class StoreUnusable(Message):
        def __init__(self, error: Exception) -> None:
            super().__init__()
            self.error = error

    class ServerSeen(Message):
        """status: one immutable snapshot, None with the fault that kept it from being taken.

        A newer one replaces one that still waits.
        """

        def __init__(self, status: Status | None, fault: Exception | None = None) -> None:
            super().__init__()
            self.status = status
            self.fault = fault

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, LabApp.ServerSeen)

    def __init__(
        self,
        store_path: Path | None = None,
        lesson_paths: Sequence[Path] = (),
        *,
        theme: str | None = None,
        supervisor: Supervisor | None = None,
        now: Callable[[], datetime] | None = None,
        server_poll_s: float | None = 1.0,
    ) -> None:
        super().__init__()
        for own_theme in THEMES:
            self.register_theme(own_theme)
        self.theme = self._fitting_theme(theme)
        self.lesson_paths = tuple(lesson_paths)
        self.books = Bookkeeper(store_path)
        self.lessons: tuple[Lesson, ...] | None = None
        self.lesson_faults: tuple[Explained, ...] = ()
        self.store_notices: tuple[str, ...] = ()
        self.store_usable: bool | None = None
        self.server_status: Status | None = None
        self.server_fault: Exception | None = None
        self.now = now or (lambda: datetime.now(UTC))
        self._supervisor = supervisor
        self._supervisor_lock = threading.Lock()
        self._server_poll_s = server_poll_s
        self._looking = False
        self._recorded: tuple[object, ...] = ()
        self._home = HomeScreen()

    def _fitting_theme(self, wanted: str | None) -> str:
        if few_colours(self):
            without_shades(self)
            return "labtui-plain"
        return wanted if wanted in self.available_themes else "labtui-dark"

    def get_driver_class(self) -> type[Driver]:
        chosen = super().get_driver_class()
        return STURDY.get(chosen, chosen)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return THEME_VARIABLES

    def get_key_display(self, binding: Binding) -> str:
        return binding.key_display or KEY_NAMES.get(binding.key, binding.key)

    def on_mount(self) -> None:
        if not self.is_headless and threading.current_thread() is threading.main_thread():
            exit_on_hangup(lambda code: self.exit(return_code=code))
        self.push_screen(self._home)
        self.call_after_refresh(self._start_slow_work)

    def _start_slow_work(self) -> None:
        self.run_worker(self._open_store(), group="store", exit_on_error=False)
        self.run_worker(self._find_lessons, group="lessons", thread=True, exit_on_error=False)
        self.look_at_server()
        if self._server_poll_s is not None:
            self.set_interval(self._server_poll_s, self.look_at_server)

    async def _open_store(self) -> None:
        try:
            notices = await self.books.ask(lambda store: tuple(store.notices))
        except Exception as error:
            self.post_message(self.StoreUnusable(error))
        else:
            self.post_message(self.StoreOpened(notices))

    def _find_lessons(self) -> None:
        from lessons.finding import lesson_shelf
        from lessons.loading import broken_lesson

        shelf = lesson_shelf(self.lesson_paths)
        faults = tuple(broken_lesson(list(broken.faults)) for broken in shelf.broken)
        self.post_message(self.LessonsFound(FoundLessons(shelf.lessons, faults)))

    @on(StoreOpened)
    def _store_opened(self, event: StoreOpened) -> None:
        self.store_usable = True
        self.store_notices = event.notices
        self._home.refresh_picture()

    @on(StoreUnusable)
    def _store_unusable(self, event: StoreUnusable) -> None:
        self.store_usable = False
        self.push_screen(StoreFaultScreen(self._explained(event.error)))

    @on(LessonsFound)
    def _lessons_found(self, event: LessonsFound) -> None:
        self.lessons = event.found.lessons
        self.lesson_faults = event.found.faults
        self._home.refresh_picture()

    @property
    def supervisor(self) -> Supervisor:
        """The one owner of the server's process. Slow to make: ask for it in workers."""
        with self._supervisor_lock:
            if self._supervisor is None:
                from labtui.serving.supervisor import Supervisor

                self._supervisor = Supervisor(ready_estimate=self._ready_estimate)
            return self._supervisor

    def _ready_estimate(self, plan_key: str) -> float | None:
        """How long a launch of this plan took the last time; called on the workers' threads."""
        try:
            return self.books.submit(lambda store: store.launches.ready_estimate(plan_key)).result()
        except Exception:
            return None

    @property
    def server_words(self) -> str:
        return "server ? cannot be seen" if self.server_fault else server_words(self.server_status)

    def look_at_server(self) -> None:
        """Have a worker take a new snapshot of the server's state; one at a time."""
        if not self._looking:
            self._looking = True
            self.run_worker(self._look_at_server, group="server", thread=True, exit_on_error=False)

    def _look_at_server(self) -> None:
        try:
            self.post_message(self.ServerSeen(self.supervisor.status()))
        except Exception as error:
            self.post_message(self.ServerSeen(None, error))
        finally:
            self._looking = False

    @on(ServerSeen)
    def _server_seen(self, event: ServerSeen) -> None:
        self.server_status, self.server_fault = event.status, event.fault
        if event.status is not None:
            self._record_launch(event.status)
        for screen in self.screen_stack:
            if isinstance(screen, Page) and screen.stands:
                screen.server_seen()

    def _record_launch(self, status: Status) -> None:
        """Writes down that the launch began, became ready or died, once each, whatever screen is open."""
        seen = (status.launch_id, status.state, status.ready_after_s)
        if status.launch_id is not None and seen != self._recorded and self.store_usable:
            self._recorded = seen
            self.run_worker(self._write_launch(status), group="record", exit_on_error=False)

    async def _write_launch(self, status: Status) -> None:
        from labtui.launch_record import record_launch

        supervisor = self.supervisor
        try:
            await self.books.ask(lambda store: record_launch(store, supervisor.launch, status))
        except Exception as error:
            self.show_fault(error)

    def lesson(self, lesson_id: str) -> Lesson:
        return next(lesson for lesson in self.lessons or () if lesson.id == lesson_id)

    def open_lesson(self, lesson_id: str, step_id: str | None = None) -> None:
        from labtui.screens.lesson import LessonScreen

        self.push_screen(LessonScreen(lesson_id, step_id))

    def open_lab(self, lesson_id: str) -> None:
        from labtui.screens.lab import LabScreen

        self.push_screen(LabScreen(lesson_id))

    def open_verdict(self, lesson_id: str) -> None:
        from labtui.screens.verdict import VerdictScreen

        self.push_screen(VerdictScreen(lesson_id))

    def open_studio(self, lesson_id: str, practice_id: str) -> None:
        from labtui.screens.studio import StudioScreen

        self.push_screen(StudioScreen(lesson_id, practice_id))

    def open_answer_check(self, lesson_id: str) -> None:
        from labtui.screens.answer_check import AnswerCheckScreen

        self.push_screen(AnswerCheckScreen(lesson_id))

    def open_recall(self, lesson_id: str, item_id: str | None = None) -> None:
        from labtui.screens.recall import RecallScreen

        self.push_screen(RecallScreen(lesson_id, item_id))

    def open_export(self, lesson_id: str) -> None:
        from labtui.screens.export import ExportScreen

        self.push_screen(ExportScreen(lesson_id))

    def open_doctor(self) -> None:
        from labtui.screens.doctor import DoctorScreen

        self.push_screen(DoctorScreen())

    def show_fault(self, error: BaseException | Explained) -> None:
        self.push_screen(FaultBox(self._explained(error)))

    def _explained(self, error: BaseException | Explained) -> Explained:
        if not isinstance(error, BaseException) or is_explained(error):
            return error
        return reported(error, "the app")

    def copy(self, text: str) -> Path | None:
        """Copy through the terminal and, since no terminal says whether it did, into a file; returns that file."""
        self._clipboard = text
        if self._driver is not None:
            self._driver.write(clipboard_sequence(text, os.environ))
        return copied_file(text)

    def copied(self, text: str, what: str = "It") -> str:
        """Copy, and say where it went. what: such as "The address"."""
        path = self.copy(text)
        return f"{what} is copied" + ("." if path is None else f", and in {path}")

    def copy_to_clipboard(self, text: str) -> None:
        self.copy(text)

    def action_help(self) -> None:
        screen = self.screen
        if isinstance(screen, Page):
            self.push_screen(HelpBox(screen, APP_COMMANDS))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        if isinstance(screen, Page):
            for command in screen.PAGE_COMMANDS:
                if screen.check_action(command.action.partition("(")[0], ()) is True:
                    yield SystemCommand(
                        command.label.capitalize(), f"{command.tip}  ({command.key_names})", screen.doing(command)
                    )
        yield SystemCommand("Help", "What this screen is for, and every key on it  (?)", self.action_help)
        yield SystemCommand("Theme", "Dark, light, plain or another look", self.action_change_theme)
        yield SystemCommand("Screenshot", "Save a picture of this screen as SVG", self.deliver_screenshot)
        yield SystemCommand("Quit", "Leave labtui; the server stays  (ctrl+q)", self.action_quit)

    async def on_unmount(self) -> None:
        self.books.close(wait=False)


def open_in_terminal(store_path: Path | None, configuration: Configuration) -> None:
    """Run the app until the person leaves. Raises SystemExit with the app's exit code where that is not 0."""
    app = LabApp(store_path, configuration.lessons, theme=configuration.theme)
    theme = app.theme
    app.run()
    if app.theme != theme:
        with suppress(LabError, OSError):
            write_configuration(replace(configuration, theme=app.theme))
    if app.return_code:
        raise SystemExit(app.return_code)
