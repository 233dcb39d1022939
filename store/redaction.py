"""Nothing secret is kept: whatever looks like a key is taken out before it is written."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

REMOVED = "(removed)"
SECRET_NAME = re.compile(
    r"(^|[_\-. ])(api[_-]?key|authorization|auth|password|passwd|secret|credentials?)$"
    r"|(^|_)(hf|access|auth|bearer|hub)_?token$",
    re.IGNORECASE,
)
SECRET_TEXT = re.compile(
    r"(?P<before>\bbearer\s+)[^\s\"']+"
    r"|(?P<option>--(?:api-key|hf-token)[= ])[^\s\"']+"
    r"|(?P<assigned>\b(?:VLLM_API_KEY|OPENAI_API_KEY|HF_TOKEN|HUGGING_FACE_HUB_TOKEN)=)[^\s\"']+"
    r"|\bhf_[A-Za-z0-9]{20,}\b"
    r"|\bsk-[A-Za-z0-9_-]{20,}",
    re.IGNORECASE,
)
SECRET_OPTIONS = {"--api-key", "--hf-token"}


def without_secrets(value: Any) -> Any:
    """A JSON-ready copy: secrets replaced, numbers that JSON does not know as text, tuples as lists."""
    if isinstance(value, Mapping):
        return {
            str(key): REMOVED if inner and SECRET_NAME.search(str(key)) else without_secrets(inner)
            for key, inner in value.items()
        }
    if isinstance(value, str):
        return SECRET_TEXT.sub(_keep_the_name, value)
    if isinstance(value, Sequence):
        return _list_without_secrets(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)


def _list_without_secrets(values: Sequence[Any]) -> list[Any]:
    kept, next_is_secret = [], False
    for value in values:
        kept.append(REMOVED if next_is_secret else without_secrets(value))
        next_is_secret = value in SECRET_OPTIONS if isinstance(value, str) else False
    return kept


def _keep_the_name(found: re.Match[str]) -> str:
    return (found["before"] or found["option"] or found["assigned"] or "") + REMOVED
