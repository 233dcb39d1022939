"""serve flags: what the installed vLLM's command line takes."""

from __future__ import annotations

import click

from labtui.cli.lazy_group import LabCommand
from labtui.cli.narration import working
from labtui.cli.session import Session, json_option, pass_session
from labtui.errors import DONE, FAILED, NO_SERVER, LabError
from labtui.terminal_text import visible_line


@click.command(cls=LabCommand, context_settings={"ignore_unknown_options": True})
@click.argument("word", required=False, type=click.UNPROCESSED)
@json_option
@pass_session
def flags(session: Session, word: str | None, as_json: bool) -> int:
    """The flags of the installed vLLM, in its own words; with WORD those that have it in their name or words.

    vLLM is asked once for each of its versions, which takes half a minute. From then on every plan is checked against
    the answer.
    """
    from labtui.cli.run_text import columns
    from labtui.serving.known_flags import ask, kept_flags
    from labtui.serving.machine import installed_vllm

    vllm = installed_vllm()
    if vllm is None:
        raise LabError("vLLM is not installed here", "There is nobody to ask.", "./lab sets everything up.", NO_SERVER)
    known = kept_flags(vllm)
    if known is None:
        with working(session, "asking vLLM for its flags, which takes half a minute"):
            known = ask(vllm)
    wanted = (word or "").lower()
    found = {
        flag.name: flag for name, flag in known.flags.items() if wanted in name.lower() or wanted in flag.words.lower()
    }
    if as_json:
        rows = [{"name": one.name, "words": one.words, "choices": list(one.choices)} for one in found.values()]
        session.emit({"vllm": known.version, "flags": rows})
    elif found:
        for line in columns([(visible_line(one.name), visible_line(one.words)) for one in found.values()]):
            click.echo(line)
    else:
        near = known.nearest(word if word and word.startswith("-") else f"--{word}")
        session.say(f"vLLM {known.version} has nothing like {word!r}." + (f" Nearest: {near}" if near else ""))
    return DONE if found else FAILED
