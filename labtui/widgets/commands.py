from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding


@dataclass(frozen=True, slots=True)
class Command:
    """One thing a person can do on a screen: it gives the key, the entry of the key line, the palette and the help.

    keys: as in Textual, alternatives by comma; the first is the one that is shown.
    label: one or two words for the key line. tip: a sentence for palette and help.
    shown: whether it stands in the key line (all stand in palette and help).
    display: how the key is written, where its name is not what a person would say.
    """

    keys: str
    action: str
    label: str
    tip: str
    shown: bool = True
    display: str | None = None

    def bindings(self) -> list[Binding]:
        first, *others = self.keys.split(",")
        shown = Binding(first, self.action, self.label, self.shown, self.display, tooltip=self.tip)
        return [shown, *(Binding(key, self.action, self.label, show=False, tooltip=self.tip) for key in others)]

    @property
    def key_names(self) -> str:
        return self.display or " ".join(KEY_NAMES.get(key, key) for key in self.keys.split(","))


KEY_NAMES = {
    "escape": "esc",
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
}


def bindings(*commands: Command) -> list[Binding]:
    return [binding for command in commands for binding in command.bindings()]
