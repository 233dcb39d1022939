from __future__ import annotations

from textual.theme import Theme

# For themes that are not ours: whatever stands out from their background.
THEME_VARIABLES = {"quiet": "auto 70%", "line": "#808080 60%", "next": "auto"}

DARK = Theme(
    name="labtui-dark",
    primary="#7fb0d6",
    secondary="#9aa7b8",
    accent="#e3b96f",
    success="#8fc08a",
    warning="#e0a35c",
    error="#e27d7d",
    foreground="#d7dce3",
    background="#12161b",
    surface="#171c22",
    panel="#1e242c",
    dark=True,
    variables={
        "quiet": "#8b95a3",
        "line": "#36404b",
        "next": "#e3b96f",
        "footer-key-foreground": "#e3b96f",
        "footer-description-foreground": "#a9b2be",
        "footer-background": "#12161b",
        "input-cursor-background": "#d7dce3",
        "input-cursor-foreground": "#12161b",
    },
)

LIGHT = Theme(
    name="labtui-light",
    primary="#1f5f8f",
    secondary="#4f5b69",
    accent="#8a5a00",
    success="#2f6b2b",
    warning="#8a4b00",
    error="#a32a2a",
    foreground="#22272e",
    background="#fbfaf7",
    surface="#f3f1ec",
    panel="#e9e6df",
    dark=False,
    variables={
        "quiet": "#5d6773",
        "line": "#c9c4b8",
        "next": "#8a5a00",
        "footer-key-foreground": "#8a5a00",
        "footer-description-foreground": "#4f5b69",
        "footer-background": "#fbfaf7",
    },
)

# For 16 colours, and for none: the terminal's own two colours, with bold, underline and reverse to tell things apart.
PLAIN = Theme(
    name="labtui-plain",
    ansi=True,
    primary="ansi_default",
    secondary="ansi_default",
    accent="ansi_default",
    success="ansi_green",
    warning="ansi_default",
    error="ansi_red",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    dark=True,
    variables={
        "ansi-background": "ansi_default",
        "ansi-foreground": "ansi_default",
        "quiet": "ansi_default",
        "line": "ansi_default",
        "next": "ansi_default",
        "footer-key-foreground": "ansi_default",
        "footer-description-foreground": "ansi_default",
        "footer-background": "ansi_default",
        "border": "ansi_default",
        "border-blurred": "ansi_default",
        "block-cursor-foreground": "ansi_default",
        "block-cursor-background": "ansi_default",
        "block-cursor-text-style": "bold reverse",
        "block-cursor-blurred-foreground": "ansi_default",
        "block-cursor-blurred-background": "ansi_default",
        "block-cursor-blurred-text-style": "bold",
        "input-cursor-background": "ansi_default",
        "input-cursor-foreground": "ansi_default",
        "input-cursor-text-style": "reverse",
        "input-selection-background": "ansi_default",
        "input-selection-foreground": "ansi_default",
        "screen-selection-background": "ansi_default",
        "screen-selection-foreground": "ansi_default",
        "scrollbar": "ansi_default",
        "scrollbar-hover": "ansi_default",
        "scrollbar-active": "ansi_default",
        "scrollbar-background": "ansi_default",
        "scrollbar-background-hover": "ansi_default",
        "scrollbar-background-active": "ansi_default",
        "scrollbar-corner-color": "ansi_default",
    },
)

THEMES = (DARK, LIGHT, PLAIN)
