"""Where a model answers: an OpenAI-compatible server, with what is known about it."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from exercises.errors import ExerciseError


@dataclass(frozen=True, slots=True)
class Endpoint:
    """base_url: the server's address, with or without /v1. model: the name that requests carry.

    evidence: what the launcher knows and a run should keep: command (no secrets), revision, hardware, driver.
    The API key is never shown: not by repr, not in errors, not in a run.
    """

    base_url: str
    api_key: str | None = field(repr=False)
    model: str
    checkpoint: str
    practice: bool
    vllm_version: str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @property
    def root(self) -> str:
        """The address without /v1 and slash: the place of /metrics, /health and /version."""
        return self.base_url.strip().rstrip("/").removesuffix("/v1").rstrip("/")

    @property
    def public_root(self) -> str:
        """The root as it may be shown and kept: without a user name or password in it."""
        scheme, separator, rest = self.root.partition("://")
        return f"{scheme}{separator}{rest.rpartition('@')[2]}" if separator else self.root

    def url(self, path: str) -> str:
        return f"{self.root}{path}"

    @property
    def headers(self) -> dict[str, str]:
        # Without identity a proxy may compress, and a compressed stream arrives in other pieces than were sent.
        headers = {"Accept-Encoding": "identity"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        return headers

    @property
    def is_this_machine(self) -> bool:
        """Proxies of the environment are for other hosts: a request to this machine goes straight to it."""
        return _is_this_machine(httpx.URL(self.root).host)

    def require_usable(self) -> None:
        """Raises ExerciseError (exit 2) where the address or the key cannot be used."""
        try:
            url = httpx.URL(self.root)
            if url.scheme not in ("http", "https") or not url.host:
                raise httpx.InvalidURL("it needs http:// or https:// and a host")
        except httpx.InvalidURL as fault:
            raise ExerciseError(
                f"{self.base_url!r} is not the address of a server",
                str(fault),
                "Give it like http://127.0.0.1:8000",
                exit_code=2,
            ) from None
        if self.api_key and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise ExerciseError(
                "The API key cannot be sent",
                "it has characters that no HTTP header takes",
                "Copy the key again, without line ends.",
                exit_code=2,
            )

    def http_client(self, timeout: httpx.Timeout) -> httpx.Client:
        """A client for this server. Raises ExerciseError as require_usable does."""
        self.require_usable()
        # Loading the certificates takes longer than many a practice run; plain http needs none.
        return httpx.Client(
            headers=self.headers,
            timeout=timeout,
            trust_env=not self.is_this_machine,
            verify=self.root.startswith("https:"),
        )


def _is_this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
