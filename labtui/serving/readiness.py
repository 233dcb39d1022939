"""Does the server really answer? /health says that the engine lives; only an answer of its own says that it serves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import httpx

HEALTH_TIMEOUT_S = 2.0


class Health(Enum):
    """What /health says. SILENT: a connection, but no answer in time. ABSENT: nobody listens."""

    ALIVE = "alive"
    DEAD = "dead"
    SILENT = "silent"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Served:
    """What a server says about itself. root is what it loaded; a field that it does not tell is None."""

    model: str
    root: str | None
    max_model_len: int | None
    version: str | None


class Unanswered(Exception):
    """No usable answer. status: the HTTP status, None where there was none. timed_out: it may only be slow."""

    def __init__(self, reason: str, *, status: int | None = None, timed_out: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self.timed_out = timed_out


def client(url: str, api_key: str | None, timeout_s: float) -> httpx.Client:
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    # Proxies of the environment are for the internet, not for a server on this machine or in this network.
    timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, 5.0))
    # Loading the certificates takes longer than a health check; plain http needs none.
    return httpx.Client(headers=headers, timeout=timeout, trust_env=False, verify=url.startswith("https:"))


def health(url: str, timeout_s: float = HEALTH_TIMEOUT_S) -> Health:
    try:
        with client(url, None, timeout_s) as http:
            return Health.ALIVE if http.get(f"{url}/health").status_code == httpx.codes.OK else Health.DEAD
    except httpx.ConnectError:
        return Health.ABSENT
    except (httpx.HTTPError, httpx.InvalidURL):
        return Health.SILENT


def served(url: str, api_key: str | None, timeout_s: float = 5.0) -> Served:
    """Raises Unanswered."""
    with client(url, api_key, timeout_s) as http:
        page = _json(http, "GET", f"{url}/v1/models")
        entries = page.get("data")
        if not isinstance(entries, list) or not entries or not isinstance(entries[0], dict) or "id" not in entries[0]:
            raise Unanswered("its /v1/models lists no model")
        first = entries[0]
        length = first.get("max_model_len")
        try:
            version = _json(http, "GET", f"{url}/version").get("version")
        except Unanswered:
            version = None
    return Served(
        model=str(first["id"]),
        root=str(first["root"]) if first.get("root") else None,
        max_model_len=length if isinstance(length, int) else None,
        version=str(version) if version else None,
    )


def ask_for_one_token(url: str, api_key: str | None, model: str, timeout_s: float) -> None:
    """Returns when the server has answered; raises Unanswered with the reason otherwise."""
    body = {"model": model, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    with client(url, api_key, timeout_s) as http:
        answer = _json(http, "POST", f"{url}/v1/chat/completions", body)
    if not answer.get("choices"):
        raise Unanswered("it answered without a choice")


def _json(http: httpx.Client, method: str, url: str, body: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    try:
        response = http.request(method, url, json=body)
    except httpx.TimeoutException as error:
        raise Unanswered("it did not answer in time", timed_out=True) from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Unanswered(str(error) or type(error).__name__) from error
    if response.status_code != httpx.codes.OK:
        raise Unanswered(_said(response), status=response.status_code)
    try:
        data = response.json()
    except ValueError as error:
        raise Unanswered("it answers something that is not JSON") from error
    if not isinstance(data, dict):
        raise Unanswered("it answers JSON of another shape")
    return data


def _said(response: httpx.Response) -> str:
    """The server's own words, cut: they may be a page of HTML."""
    text = " ".join(response.text.split())[:200]
    return f"HTTP {response.status_code}" + (f": {text}" if text else "")
