"""What the lab says at length: its help, and what came of a trial."""

from __future__ import annotations

from labtui.cli.run_text import spread_text
from labtui.glossary import speed_glossary
from labtui.run_progress import Outcome
from labtui.terminal_text import visible_line

LAB_HELP = f"""
The lab runs the tasks of the lesson on a model server of your own, and measures them.

s starts the server with the plan that is shown; p changes the plan. A server outlives labtui: leaving, or losing the
connection, does not end it, and the next start of labtui finds it again. Others may use it too, so stopping asks once.

enter runs the chosen task. The answer comes canvas by canvas. A run goes on when you leave this screen, and is kept;
leaving labtui ends it, and keeps what had come. "saved" is said only when it is on the disk.

r sets how often: repeated runs make a trial. Its warm-ups are measured and dropped; the median over the runs so far
stands there while it goes on, and x keeps what is finished.

o shows a result in full: your number beside the public claims that mean the same, its conditions, whether the card can
be so fast, and how to repeat it. u lists all runs. Each value shows its definition when it is chosen: i goes to the
values, ↑ ↓ walk them.

b shows two kept answers to the same prompt, from two models or two settings, and you judge before anybody says whose
they are.

Numbers of the practice checkpoint are labelled so: they say nothing about DiffusionGemma.

The server's figures come from its metrics page, whoever's requests they are; a dash: the page does not have it.
KV: the share of the KV cache in use. delivering: tokens that all requests received per second, over the last seconds.
steps: steps per canvas, as below, over the last stretch that began and ended idle. first canvas: time to first canvas,
the mean of the last answers. canvas fill: as below. prefix cache: the share of prompt tokens that were in the cache.
preempted: requests that lost their KV cache to others. The bars are the last looks, one a second. stalled: for how long
running requests got nothing, where canvases came much faster before.

When the server has ended by itself and another plan avoids what ended it, enter shows that plan; nothing starts before
enter is pressed there.

{speed_glossary()}
"""


def outcome_words(outcome: Outcome) -> str:
    """A word on the whole trial: "saved", or the median over its runs."""
    trial = outcome.trial
    if trial is None or trial.asked == 1:
        return "saved"
    spread = trial.summary.values["end_to_end_tps"]
    return f"last of {trial.summary.counted} runs that count: {visible_line(spread_text('end_to_end_tps', spread))}"
