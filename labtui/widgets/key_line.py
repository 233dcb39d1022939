from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.events import Resize
from textual.widgets import Footer, TextArea
from textual.widgets._footer import FooterKey

from labtui.widgets.textual_quirks import takes_key

GAP = 2
LASTING = ("back", "leave", "app.help")


class KeyLine(Footer):
    """The keys that act now, as many as fit; help is always among them, and help knows the others.

    While a text is being written only the keys that are not typed stand here.
    """

    def __init__(self) -> None:
        super().__init__(show_command_palette=False, compact=True)

    def compose(self) -> ComposeResult:
        if not self._bindings_ready:
            return
        screen = self.screen
        focused = screen.focused
        typing = isinstance(focused, TextArea)
        active = [
            (item.binding, item.enabled, item.tooltip)
            for item in screen.active_bindings.values()
            if item.binding.show
            and not (typing and item.binding.key == "enter")
            and not takes_key(focused, item.binding.key)
        ]
        for binding, enabled, tooltip in self._fitting(active):
            yield FooterKey(
                binding.key,
                self.app.get_key_display(binding),
                binding.description,
                binding.action,
                disabled=not enabled,
                tooltip=tooltip or binding.description,
            ).data_bind(compact=Footer.compact)

    def _fitting(self, active: list[tuple[Binding, bool, str]]) -> list[tuple[Binding, bool, str]]:
        room = self.app.size.width - 2
        lasting = sorted(
            (item for item in active if item[0].action in LASTING), key=lambda item: LASTING.index(item[0].action)
        )
        room -= sum(self._width(item[0]) for item in lasting)
        kept = []
        for item in active:
            if item in lasting:
                continue
            width = self._width(item[0])
            if width > room:
                break
            kept.append(item)
            room -= width
        return kept + lasting

    def _width(self, binding: Binding) -> int:
        return len(self.app.get_key_display(binding)) + 1 + len(binding.description) + GAP

    def on_resize(self, event: Resize) -> None:
        if self._bindings_ready:
            self.call_after_refresh(self.recompose)
