"""A new lesson to start from: commented, short, and without a fault."""

from __future__ import annotations

import os
import re
import secrets
import unicodedata
from pathlib import Path

from lessons.errors import LessonError
from lessons.reading import LESSON_FILE
from lessons.schema import FORMAT_VERSION

ID_LENGTH = 64


def write_scaffold(folder: Path) -> Path:
    """Makes the folder if need be and writes lesson.toml into it; nothing that exists is overwritten.

    The lesson's id comes from the folder's name. Returns the file. LessonError where it cannot be written.
    """
    file = folder / LESSON_FILE
    part = folder / f".{LESSON_FILE}.{secrets.token_hex(4)}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            part.write_text(scaffold(id_from_folder(folder)), encoding="utf-8")
            _put_in_place(part, file)
        finally:
            part.unlink(missing_ok=True)
    except FileExistsError:
        taken = file if folder.is_dir() else folder
        raise LessonError("Nothing was written", f"{taken} is there already", "Choose another folder.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise LessonError(
            "Nothing was written",
            f"{file}: {reason}",
            "Choose a folder that you can write to and that has room.",
            exit_code=1,
        ) from None
    return file


def _put_in_place(part: Path, file: Path) -> None:
    """Whole or not at all, and never over another file; some file systems have no links."""
    try:
        os.link(part, file)
    except FileExistsError:
        raise
    except OSError:
        if file.exists():
            raise FileExistsError from None
        part.rename(file)


def scaffold(lesson_id: str) -> str:
    return SCAFFOLD.replace("LESSON-ID", lesson_id).replace("FORMAT-VERSION", str(FORMAT_VERSION))


def id_from_folder(folder: Path) -> str:
    plain = unicodedata.normalize("NFKD", folder.absolute().name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:ID_LENGTH].strip("-") or "my-lesson"


SCAFFOLD = '''\
# A labtui lesson. Check it with: labtui lesson check LESSON.TOML
#
# Ids are kebab-case and for ever: progress and answers are kept under them. Edit texts as you like, they reset
# nothing. When you drop a part, put its id into `retired`, so that it is never given to something else.
# Texts are Markdown. Leave a key out rather than empty. Sections that you do not need can go altogether.

format_version = FORMAT-VERSION
id = "LESSON-ID"
title = "Name the one thing that this lesson is about"
lang = "en"
version = "1"
minutes = 30                      # how long a person needs, lab included
retired = []                      # such as ["old-anchor", "recall/old-question"]
# needs_labtui = "0.1.0"          # only if older releases of labtui cannot show this lesson
summary = """
Two or three sentences: what is claimed, who claims it, and what the person
will have done at the end."""

# The source that the lesson follows. Without a video leave this out, and the anchors with it.
[video]
title = "The video's title, unchanged"
url = "https://example.org/video"
channel = "Who made it"
duration = "12:00"                # "m:ss" or "h:mm:ss"; anchors must lie before it
# transcript_words = 1950
# transcript_segments = 616

# Read before watching. Every key may be left out, but a lab needs lab_question: the verdict answers it.
[frame]
principle = "The general rule that this lesson is a case of."
why = "Why this source is worth an hour."
skill = "What the person can do afterwards, as a doing word."
watch_for = "Where to stop and look closely."
thesis = "What the lesson claims, in a paragraph."
goal = "What is to be taken home."
lab_question = "The question that can only be answered by running something."

# The diagram, one card for each stage, in its order.
[[card]]
id = "intent"
stage = "Intent"
body = "What do you want to find out, so that it can come out true or false?"
anchors = ["first-claim"]         # ids of [[anchor]]

# A point worth a page. Time and quotation come from its first anchor, unless you give `at` and `quote`.
[[deep_point]]
id = "mechanism"
title = "How it works"
anchors = ["first-claim"]
# at = "1:23"
# quote = "..."
body = "Explain the mechanism so that somebody could predict what happens next."
task = "One thing to draw, write or decide."

# Evidence: the transcript's own words and the second at which they stand, in the order of time.
[[anchor]]
id = "first-claim"
at = "1:23"
title = "The claim"
quote = "The words of the transcript, unchanged, even where they are clumsy..."
proves = "What can be seen to be true."
does_not_prove = "What one might take from it and should not."
to_verify = "What to check, and where."

[[example]]
id = "a-case"
title = "A case"
body = "The idea at work, with numbers or names."

[[pitfall]]
id = "a-wrong-way"
body = "A way to go through this lesson and learn the wrong thing."

# Asked first (true or false, and why), told afterwards.
[[misconception]]
id = "a-belief"
claim = "A sentence that many believe."
why = "What makes it tempting."
correction = "What is true, and how one can see it."
anchors = ["first-claim"]

[[practice]]
id = "a-piece"
title = "Something to make"
piece = "text"                    # or evidence-map, harness-map, teach-back, checklist, transfer
body = "What to make of what."
done_signal = "What is there when it is done."

# Asked first, then checked by the log of a launch or by a run. `exercise` is of a set in a predictions.toml beside this
# file, or of one that comes with labtui; it says which launch or run shows the number.
[[prediction]]
id = "a-number"
title = "What will the server say?"
exercise = "kv-cache-line/half-the-length"
body = "What is started, and which number is asked for."
worked = "How the number comes about; told afterwards."

# `task` names a task of the exercise set: "coding" and "vision" are in every set.
[[lab_task]]
id = "coding"
task = "coding"
title = "The task to run"
body = "What to look at while it runs."

# Leave answer out where the source does not give one; it is then shown as open.
[[recall]]
id = "a-question"
question = "A question that can be answered without looking?"
answer = "What a good answer says."
points = ["One part of it", "Another part of it"]
anchors = ["first-claim"]

# One condition under which the lesson counts as learned. Evidence, not a tick.
[[gate]]
id = "own-words"
title = "The claim, in your words"
needs = ["own-words", "citation"] # or evidence-map, harness-map, teach-back, predictions, runs, verdict
body = "What the person has to show."

# For the prompt that a person gives to an assistant. What you leave out is filled in.
[prompt]
intro = "I want to learn from this one source, for good."
why = "Why it matters to me."
topic = "The wider topic"
learning_frame = "What I am doing with it."
tasks = ["What the assistant is to do first.", "And then."]
includes = ["what its answer contains"]
quality_bar = ["What would make the answer worthless, turned round."]

# Corrections and remarks that are not in the source. `about` is a step: "kind/id", "frame" or "verdict",
# with the kinds card, deep, anchor, example, pitfall, misconception, practice, predict, lab, recall, gate.
[[note]]
id = "a-correction"
about = "anchor/first-claim"
body = "What is wrong there, and what is right."
source = "Where that stands: https://example.org/source"

[[source]]
id = "video"
title = "The video"
url = "https://example.org/video"
note = "What it is good for."
'''
