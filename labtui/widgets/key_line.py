from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Footer, TextArea
from textual.widgets._footer import FooterKey

from labtui.widgets.textual_quirks import takes_key

GAP = 2
LASTING = ("back", "leave", "app.help")

ActiveKey = tuple[Binding, bool, str]
"""A binding that is shown, whether it is enabled, and its tooltip."""


class KeyLine(Footer):
    """The keys that act now, as many as fit; help is always among them, and help knows the others.

    While a text is being written only the keys that are not typed stand here.
    """

    def __init__(self) -> None:
        super().__init__(show_command_palette=False, compact=True)
        self._shown: tuple[ActiveKey, ...] | None = None

    def compose(self) -> ComposeResult:
        if not self._bindings_ready:
            return
        self._shown = self._acting()
        for binding, enabled, tooltip in self._shown:
            # Not bound to the footer's `compact` as Textual's own keys are: the footer would keep each key for good.
            yield FooterKey(
                binding.key,
                self.app.get_key_display(binding),
                binding.description,
                binding.action,
                disabled=not enabled,
                tooltip=tooltip or binding.description,
            )

    def bindings_changed(self, screen: Screen[object]) -> None:
        self._bindings_ready = True
        if screen.app.app_focus and self.is_attached and screen is self.screen:
            self.call_after_refresh(self._show_changes)

    async def _show_changes(self) -> None:
        if self.is_attached and self._acting() != self._shown:
            await self.recompose()

    def _acting(self) -> tuple[ActiveKey, ...]:
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
        return tuple(self._fitting(active))

    def _fitting(self, active: list[ActiveKey]) -> list[ActiveKey]:
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
            self.call_after_refresh(self._show_changes)
