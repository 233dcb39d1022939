"""An SVG from a model's answer as a PNG picture, drawn in a child process that may take little time and memory.

Run as a program it is that child: SVG on standard input, PNG on standard output.
"""

from __future__ import annotations

import subprocess
import sys

from exercises.checkers.svg import SvgWanted, check_svg, extract_svg
from labtui.errors import LabError

WIDTH = 640
TIME_S = 10
MEMORY_BYTES = 1 << 30
LARGEST_PNG = 16 << 20


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
    if done.returncode != 0 or not done.stdout.startswith(b"\x89PNG") or len(done.stdout) > LARGEST_PNG:
        said = done.stderr.decode("utf-8", errors="replace").strip().splitlines()
        raise _not_drawn(said[-1] if said else f"the drawing program ended with code {done.returncode}")
    return done.stdout


def _not_drawn(why: str) -> LabError:
    return LabError("The SVG is not drawn", why, "Read it as text; its facts stand with the result.")


def _draw() -> None:
    import resource

    from resvg_py import svg_to_bytes

    resource.setrlimit(resource.RLIMIT_CPU, (TIME_S, TIME_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    try:
        png = svg_to_bytes(svg_string=sys.stdin.buffer.read().decode("utf-8"), width=WIDTH, background="white")
    except ValueError as fault:
        sys.exit(str(fault))
    sys.stdout.buffer.write(bytes(png))


if __name__ == "__main__":
    _draw()
