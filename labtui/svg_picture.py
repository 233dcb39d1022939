"""An SVG from a model's answer as a PNG picture, drawn in a child process that may take little time and memory.

Run as a program it is that child: SVG on standard input, PNG on standard output.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from exercises.checkers.svg import SvgWanted, check_svg, extract_svg
from labtui.errors import LabError

WIDTH = 640
TIME_S = 10
MEMORY_BYTES = 1 << 30
LARGEST_PNG = 16 << 20
TALLEST = 8 * WIDTH
PNG_START = b"\x89PNG"
SAID_WHY = 3
"""Exit code of the child where its standard error says why nothing was drawn."""

FONT = Path(__file__).with_name("fonts") / "DejaVuSans.ttf"
FONT_FAMILY = "DejaVu Sans"
LAST_LETTER_IN_FONT = "\u045f"


def picture_of_svg(answer: str) -> bytes:
    """The PNG of the SVG in an answer, as it stands before anything moves.

    Nothing in it is run and nothing outside it is read. Raises LabError where there is none, where it is not safe to
    draw, or where it cannot be drawn.
    """
    source = extract_svg(answer)
    if source is None:
        raise _not_drawn("the answer has no <svg>")
    wrong = next((fact for fact in check_svg(answer, SvgWanted()).facts if not fact.passed), None)
    if wrong is not None:
        raise _not_drawn(f"{wrong.name}: no{f' ({wrong.detail})' if wrong.detail else ''}")
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-X", "utf8", __file__],
            input=source.encode("utf-8", errors="replace"),
            capture_output=True,
            timeout=TIME_S,
            env={},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _not_drawn(f"drawing it took more than {TIME_S} s") from None
    except OSError as error:
        raise _not_drawn(error.strerror or str(error)) from None
    png = done.stdout
    if done.returncode == SAID_WHY:
        raise _not_drawn(done.stderr.decode("utf-8", errors="replace").strip())
    if done.returncode != 0 or not png.startswith(PNG_START) or len(png) > LARGEST_PNG:
        raise _not_drawn(f"it asks for more than the drawing program can do (it ended with code {done.returncode})")
    height = int.from_bytes(png[20:24], "big")
    if height > TALLEST:
        raise _not_drawn(f"it is {height / WIDTH:.0f} times as tall as wide")
    return png


def _not_drawn(why: str) -> LabError:
    return LabError("The SVG is not drawn", why, "Read it as text; its facts stand with the result.")


def _draw() -> None:
    import resource

    from resvg_py import svg_to_bytes

    resource.setrlimit(resource.RLIMIT_CPU, (TIME_S, TIME_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    source = sys.stdin.buffer.read().decode("utf-8")
    try:
        png = svg_to_bytes(
            svg_string=source,
            width=WIDTH,
            background="white",
            # Every family is our own font, so that labels look alike on every machine, also on one without fonts; the
            # machine's fonts are read only for letters that ours lacks.
            skip_system_fonts=not any(letter > LAST_LETTER_IN_FONT and letter.isalpha() for letter in source),
            font_files=[str(FONT)],
            font_family=FONT_FAMILY,
            serif_family=FONT_FAMILY,
            sans_serif_family=FONT_FAMILY,
            cursive_family=FONT_FAMILY,
            fantasy_family=FONT_FAMILY,
            monospace_family=FONT_FAMILY,
        )
    except ValueError as fault:
        sys.stderr.write(str(fault))
        sys.exit(SAID_WHY)
    sys.stdout.buffer.write(bytes(png))


if __name__ == "__main__":
    _draw()
