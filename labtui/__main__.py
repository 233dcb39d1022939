from __future__ import annotations

import sys


def main() -> None:
    # Any locale and any input will do: a character that cannot be read or shown becomes "?" or "�" instead of an error.
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        from labtui.cli.main import labtui
    except KeyboardInterrupt:
        sys.exit(130)
    labtui()


if __name__ == "__main__":
    main()
