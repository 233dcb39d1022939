"""Tasks: a prompt with its checker. Task sets are TOML files; nothing about the built-in ones is special.

    format_version = 1
    id = "practice"
    title = "..."
    practice = true                    # for the practice checkpoint; its results carry that label

    [[task]]
    id = "coding"
    kind = "coding"                    # coding | vision; in kinds.toml short | prose | code | structured | reasoning
    title = "..."
    body = "what the person sees before it runs"
    max_tokens = 256
    [task.checker]
    type = "svg"                       # one of checkers/catalogue.py; further keys are its settings
    [[task.variant]]                   # one of them is drawn by the seed of the run
    prompt = "Write an SVG of a red circle."
    expect = { elements = ["circle"], fill = "red" }       # settings of the checker for this variant

    [[task]]                           # a task about a picture that is drawn anew for each seed
    ...
    drawing = "barrier"
    width = 320
    height = 240
    prompt = "..."                     # one prompt, or variants as above

    [[task]]                           # a task about pictures that lie beside this file
    ...
    pictures = ["rift.png"]            # or in a variant; PNG, JPEG or WebP; the checker must be told what is right
    prompt = "..."

Settings of the checkers, all optional where nothing else is said:

    svg              elements, fill, text, min_labels, moving
    html_page        tabs (how many), labels
    python_function  function and cases = [{ args, result }], both needed; what the answer defines is run
    python_source    function, needed; the answer is only read
    text             contains, any_of, min_words, max_words, number
    structured       form ("json" or "table"), needed; keys, rows
    choice           when_true, when_false, needed; answer where no drawing knows it
    one_of           answers = { left = ["left", ...], ... }, needed; answer where no drawing knows it
    transcription    most_errors; text where no drawing knows it

Drawings: barrier for choice, cursive for transcription, clip for one_of. A clip has frames = 2 or more; a server that
labtui has started takes 2 pictures in a request unless its plan says otherwise.
"""

from __future__ import annotations

import base64
import random
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, cast, get_args

from exercises.checkers.catalogue import CHECKER_TYPES, Checker, read_checker, runs_code
from exercises.drawings.catalogue import DRAWINGS, draw
from exercises.errors import ExerciseError
from exercises.task_pictures import picture_paths, png_of
from exercises.toml_table import TomlTable

FORMAT_VERSION = 1
SMALLEST_PICTURE = 48
LARGEST_PICTURE = 4096
MOST_FRAMES = 8

Kind = Literal["coding", "vision", "short", "prose", "code", "structured", "reasoning"]
KINDS: tuple[str, ...] = get_args(Kind)

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")

TASKS_FILE = "tasks.toml"
KINDS_FILE = "kinds.toml"


@dataclass(frozen=True, slots=True)
class PreparedTask:
    """What one run sends and how its answer is checked. The same task and seed prepare the same.

    messages: chat messages with the pictures in them as data URLs. facts: what was chosen, JSON-ready, for the record.
    """

    messages: tuple[dict[str, Any], ...]
    prompt_text: str
    images: tuple[bytes, ...]
    check: Checker
    seed: int
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Variant:
    """pictures: files that go with the prompt."""

    prompt: str
    settings: Mapping[str, Any]
    pictures: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """drawing: name of what is drawn for each run, None for a task without picture; width and height in pixels.

    frames: pictures of a drawing that moves.
    """

    id: str
    set_id: str
    kind: Kind
    title: str
    body: str
    max_tokens: int
    practice: bool
    checker_type: str
    variants: tuple[Variant, ...]
    drawing: str | None = None
    width: int = 0
    height: int = 0
    frames: int = 1

    @property
    def runs_code(self) -> bool:
        """Its checker runs what the model wrote, in a limited child process. Tell the person before it starts."""
        return runs_code(self.checker_type)

    def prepare(self, seed: int, *, run_code: bool = True) -> PreparedTask:
        """run_code: False leaves the code in an answer alone; its tests then count as not passed.

        Raises ExerciseError (exit 2) where a picture cannot be drawn, or one of its files is gone.
        """
        rng = random.Random(f"{self.set_id}/{self.id}/{seed}")
        number = rng.randrange(len(self.variants))
        variant = self.variants[number]
        facts: dict[str, Any] = {"variant": number + 1, "of": len(self.variants)}
        picture = None
        if self.drawing is not None:
            picture = draw(self.drawing, rng, self.width, self.height, self.frames)
            facts["picture"] = dict(picture.facts)
        checker = read_checker(
            self.checker_type,
            TomlTable(variant.settings, f"task {self.id}: variant {number + 1}"),
            picture.truth if picture else None,
            run_code,
        )
        images = picture.pngs if picture else _read_pictures(variant.pictures)
        if variant.pictures:
            facts["pictures"] = [path.name for path in variant.pictures]
        return PreparedTask((_message(variant.prompt, images),), variant.prompt, images, checker, seed, facts)


@dataclass(frozen=True, slots=True)
class TaskSet:
    id: str
    title: str
    practice: bool
    tasks: tuple[Task, ...]


def load_task_set(path: Path) -> TaskSet:
    """path: a tasks.toml or its folder. Raises ExerciseError (exit 2) that names file and place of the first fault."""
    file = path / TASKS_FILE if path.is_dir() else path
    try:
        document = tomllib.loads(file.read_bytes().decode("utf-8"))
    except OSError as fault:
        raise ExerciseError(
            "The task file cannot be read", f"{file}: {fault.strerror or fault}", "Give the path of a tasks.toml.", 2
        ) from None
    except UnicodeDecodeError:
        raise ExerciseError("The task file cannot be read", f"{file} is not UTF-8", "Save it as UTF-8.", 2) from None
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise ExerciseError("The task file is not TOML", f"{file}: {fault}", "Mend it at that line.", 2) from None
    return _read_set(TomlTable(document, str(file)), file.parent)


def task_set_for(checkpoint: str, practice: bool) -> TaskSet:
    """The tasks for a checkpoint: the practice checkpoint has its own, every other model gets the lab's."""
    return load_task_set(_folder_for(checkpoint, practice) / TASKS_FILE)


def prompt_kinds_for(checkpoint: str, practice: bool) -> TaskSet:
    """One task for each kind of prompt (short answer, prose, code, structured, reasoning) that the checkpoint knows.

    Steps per canvas depend on what is written, so a speed without its kind of prompt says little.
    """
    return load_task_set(_folder_for(checkpoint, practice) / KINDS_FILE)


def _folder_for(checkpoint: str, practice: bool) -> Path:
    return Path(__file__).parent / ("practice" if practice or checkpoint == "practice" else "diffusiongemma")


def find_task(task_id: str, task_set: TaskSet) -> Task:
    """Raises ExerciseError (exit 2) with the nearest id."""
    for task in task_set.tasks:
        if task.id == task_id:
            return task
    ids = [task.id for task in task_set.tasks]
    near = get_close_matches(task_id, ids, n=1, cutoff=0.4)
    raise ExerciseError(
        f"There is no task {task_id!r}",
        f"the task set {task_set.id!r} has {', '.join(ids)}",
        f"Run {near[0]!r}." if near else "Choose one of these.",
        exit_code=2,
    )


def _message(prompt: str, images: tuple[bytes, ...]) -> dict[str, Any]:
    if not images:
        return {"role": "user", "content": prompt}
    parts: list[dict[str, Any]] = [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"}}
        for png in images
    ]
    return {"role": "user", "content": [*parts, {"type": "text", "text": prompt}]}


def _read_pictures(paths: tuple[Path, ...]) -> tuple[bytes, ...]:
    try:
        return tuple(map(png_of, paths))
    except (OSError, ValueError) as fault:
        raise ExerciseError(
            "A picture of the task cannot be sent",
            str(fault),
            "labtui tasks check names what is wrong with the set.",
            2,
        ) from None


def _read_set(table: TomlTable, folder: Path) -> TaskSet:
    version = table.whole("format_version", least=1)
    if version > FORMAT_VERSION:
        raise ExerciseError(
            "The task file is newer than this program",
            f"{table.place} has format_version {version}, this program reads {FORMAT_VERSION}",
            "Update labtui.",
            exit_code=2,
        )
    set_id, title, practice = _id(table), table.text("title"), table.flag("practice", False)
    tasks: list[Task] = []
    for task_table in table.tables("task"):
        task = _read_task(task_table, table.place, set_id, practice, folder)
        if any(task.id == other.id for other in tasks):
            raise task_table.fault(f"the id {task.id!r} is taken by a task above", "another id")
        tasks.append(task)
    table.nothing_else()
    if not tasks:
        raise table.fault("there is no task in it", "at least one [[task]]")
    return TaskSet(set_id, title, practice, tuple(tasks))


def _id(table: TomlTable) -> str:
    """Of a set or a task: it stands in commands and in names of files."""
    found = table.text("id")
    if not _ID.fullmatch(found):
        raise table.fault(
            f"the id {found!r} has more than small letters, digits and hyphens, or more than 64 of them",
            'an id like "my-task"',
        )
    return found


def _read_task(table: TomlTable, file: str, set_id: str, practice: bool, folder: Path) -> Task:
    task_id, kind = _id(table), table.text("kind")
    if kind not in KINDS:
        raise table.fault(f"kind = {kind!r}", f"one of {', '.join(KINDS)}")
    checker = dict(table.table("checker"))
    checker_type = checker.pop("type", None)
    if checker_type not in CHECKER_TYPES:
        raise table.fault(f"checker: type = {checker_type!r}", f"one of {', '.join(CHECKER_TYPES)}")
    drawing = table.text("drawing", None)
    width = height = 0
    frames = 1
    if drawing is not None:
        if drawing not in DRAWINGS:
            raise table.fault(f"there is no drawing {drawing!r}", f"one of {', '.join(DRAWINGS)}")
        width, height = (table.whole(side, least=SMALLEST_PICTURE) for side in ("width", "height"))
        if max(width, height) > LARGEST_PICTURE:
            raise table.fault(f"a picture of {width}x{height} is too large", f"at most {LARGEST_PICTURE} pixels a side")
        if checker_type not in DRAWINGS[drawing].checkers:
            known = " or ".join(f'"{name}"' for name in DRAWINGS[drawing].checkers)
            raise table.fault(f"a checker {checker_type!r} cannot judge the drawing {drawing!r}", f"type = {known}")
        frames = table.whole("frames", 1, least=1)
        if frames > MOST_FRAMES:
            raise table.fault(f"{frames} frames are too many", f"at most {MOST_FRAMES}")
    task = Task(
        id=task_id,
        set_id=set_id,
        kind=cast(Kind, kind),
        title=table.text("title"),
        body=table.text("body").strip(),
        max_tokens=table.whole("max_tokens", least=1),
        practice=practice,
        checker_type=checker_type,
        variants=_read_variants(table, checker, folder),
        drawing=drawing,
        width=width,
        height=height,
        frames=frames,
    )
    table.nothing_else()
    if drawing is not None and any(variant.pictures for variant in task.variants):
        raise table.fault("it has both a drawing and pictures", "one of the two")
    for number, variant in enumerate(task.variants, 1):
        settings = TomlTable(variant.settings, f"{file}: task {task_id!r}: variant {number}: checker")
        read_checker(checker_type, settings, DRAWINGS[drawing].example if drawing else None, run_code=False)
    return task


def _read_variants(table: TomlTable, checker: Mapping[str, Any], folder: Path) -> tuple[Variant, ...]:
    variants = []
    for variant in table.tables("variant", ()):
        settings = {**checker, **variant.table("expect", {})}
        variants.append(Variant(variant.text("prompt"), settings, picture_paths(variant, folder)))
        variant.nothing_else()
    if not variants:
        return (Variant(table.text("prompt"), checker, picture_paths(table, folder)),)
    for key in ("prompt", "pictures"):
        if table.has(key):
            raise table.fault(f"it has both {key} and variants", "one of the two")
    return tuple(variants)
