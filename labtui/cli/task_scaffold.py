"""A new task set to start from: commented, short, and without a fault."""

from __future__ import annotations

import re
from pathlib import Path

from exercises.tasks import TASKS_FILE
from labtui.errors import USAGE, LabError
from labtui.new_file import write_new

SCAFFOLD = """\
# Tasks of your own. What each key means: docs/exercise-sets.md.
format_version = 1
id = "{id}"
title = "My tasks"
practice = false               # true: for the practice checkpoint, which knows few prompts

[[task]]
id = "{id}-rift"               # no other task may have this id
kind = "coding"                # coding, vision, short, prose, code, structured or reasoning
title = "Draw a rift"
body = "What a person reads before it runs."
max_tokens = 1024

[task.checker]
type = "svg"                   # states facts: it parses, is safe to show, and has what is named here
moving = true

[[task.variant]]               # the seed of a run draws one of them
prompt = "Write one self-contained animated SVG of a rift valley, with a label. Answer with the SVG only."
expect = {{ text = ["rift"] }}

[[task.variant]]
prompt = "Write one self-contained animated SVG of a volcano. Label its crater. Answer with the SVG only."
expect = {{ text = ["crater"] }}

[[task]]
id = "{id}-capital"
kind = "short"
title = "A fact"
body = "A question with one right answer."
max_tokens = 64
prompt = "Is Reykjavik north of Oslo? Begin your answer with yes or no."
# pictures = ["map.png"]       # files beside this one that go with the prompt: then kind = "vision"

[task.checker]
type = "choice"
when_true = ["yes"]
when_false = ["no"]
answer = true
"""


def write_task_set(folder: Path) -> Path:
    """Makes the folder if need be and writes tasks.toml into it. Raises LabError (exit 2) where that cannot be done."""
    try:
        folder.expanduser().mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise LabError(
            "The task set was not written", f"{folder}: {fault.strerror or fault}", "Choose another folder.", USAGE
        ) from fault
    set_id = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-") or "mine"
    return write_new(folder / TASKS_FILE, SCAFFOLD.format(id=set_id), "The task set")
