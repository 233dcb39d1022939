from __future__ import annotations

import sys


def main() -> None:
    if None in (sys.stdin, sys.stdout, sys.stderr):
        _do_without_a_stream()
    # Any locale and any input will do: a character that cannot be read or shown becomes "?" or "�" instead of an error.
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        from labtui.cli.main import labtui
    except KeyboardInterrupt:
        sys.exit(130)
    labtui()


def _do_without_a_stream() -> None:
    from labtui.cli.output import open_what_is_closed

    if not open_what_is_closed():
        sys.stderr.write("The output cannot be written: standard output is closed.\n")
        sys.exit(1)


if __name__ == "__main__":
    main()
