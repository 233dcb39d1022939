"""A server that somebody else started: what it is, and whether its numbers are practice numbers."""

from __future__ import annotations

import re
import time
from pathlib import PurePosixPath

import httpx

from labtui.errors import NO_SERVER, USAGE, LabError
from labtui.serving import readiness
from labtui.serving.checkpoints import PRACTICE_FOLDER, Checkpoint, checkpoints
from labtui.serving.readiness import Served, Unanswered
from labtui.serving.state import ServerState, new_launch_id
from labtui.serving.status import Status

PRACTICE_NAME = "practice"


def normalized(url: str) -> str:
    """The root of the server: without /v1, with a scheme. Raises LabError (exit 2) where it is no address."""
    text = url.strip()
    if "://" not in text:
        text = f"http://{text}"
    try:
        parts = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise _no_address(url, str(error)) from error
    if parts.scheme not in ("http", "https") or not re.fullmatch(r"[\w.:-]+", parts.host):
        raise _no_address(url, "It needs http:// or https:// and a host.")
    if parts.userinfo:
        raise _no_address("an address with a password", "It would be shown and logged.")
    return text.rstrip("/").removesuffix("/v1").rstrip("/")


def look_at(url: str, api_key: str | None) -> ServerState:
    """Ask the server what it is, and for one token. Raises LabError (exit 3)."""
    try:
        found = readiness.served(url, api_key)
        readiness.ask_for_one_token(url, api_key, found.model, timeout_s=120.0)
    except Unanswered as problem:
        raise _unusable(url, problem, api_key) from problem
    checkpoint = _checkpoint(found)
    return ServerState(
        launch_id=new_launch_id(),
        kind="attached",
        url=url,
        model=found.model,
        checkpoint=checkpoint.id if checkpoint is not None else found.model,
        practice=is_practice(found),
        started_at=time.time(),
        api_key=api_key,
        vllm_version=found.version,
        max_model_len=found.max_model_len,
        root=found.root,
    )


def status_of(state: ServerState) -> Status:
    """Always "foreign"; message says what is wrong where it no longer answers."""
    message = ""
    found: Served | None = None
    try:
        found = readiness.served(state.url, state.api_key, timeout_s=3.0)
        if found.model != state.model:
            message = f"it now serves {found.model}, not {state.model}: attach again"
    except Unanswered as problem:
        message = f"{state.url} does not answer: {problem.reason}"
    return Status(
        "foreign",
        url=state.url,
        checkpoint=state.checkpoint,
        practice=state.practice,
        since_s=time.time() - state.started_at,
        message=message,
        attached=True,
        model=state.model,
        vllm_version=(found.version if found is not None else None) or state.vllm_version,
        max_model_len=(found.max_model_len if found is not None else None) or state.max_model_len,
    )


def is_practice(found: Served) -> bool:
    """Told by what the server loaded, so that attaching cannot take the label off."""
    root = PurePosixPath((found.root or "").replace("\\", "/").rstrip("/"))
    folder = PurePosixPath(PRACTICE_FOLDER)
    return (
        root.parts[-len(folder.parts) :] == folder.parts
        or root.name == PRACTICE_NAME
        or found.model == PRACTICE_NAME
        or any(one.practice and one.model_argument == found.root for one in checkpoints().values())
    )


def _checkpoint(found: Served) -> Checkpoint | None:
    if is_practice(found):
        return checkpoints()[PRACTICE_NAME]
    names = {found.root, found.model}
    return next((one for one in checkpoints().values() if one.model in names or one.model_argument in names), None)


def _unusable(url: str, problem: Unanswered, api_key: str | None) -> LabError:
    if problem.status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        had = "the key that was given" if api_key else "a request without a key"
        return LabError(
            f"{url} wants an API key",
            f"It refused {had}.",
            "Put the right one in the environment: LABTUI_API_KEY=... labtui serve attach URL",
            NO_SERVER,
        )
    return LabError(
        f"No usable server answers at {url}",
        problem.reason[:1].upper() + problem.reason[1:] + ".",
        "Check the address, and that the server is an OpenAI-compatible one that has finished starting.",
        NO_SERVER,
    )


def _no_address(url: str, why: str) -> LabError:
    return LabError(f"{url!r} is not the address of a server", why, "Give it like http://127.0.0.1:8000", USAGE)
