"""`labtui web`: the app arrives in a browser, strangers are kept out, and nothing is left behind."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import psutil
import pyte
import pytest

CHROMIUM = next((found for name in ("chromium", "chromium-browser") if (found := shutil.which(name))), None)
PATIENCE_S = 30

pytestmark = pytest.mark.terminal


class Served:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        self.url = process.stdout.readline().strip()

    @property
    def root(self) -> str:
        return self.url[: self.url.index("/", len("http://"))]

    @property
    def apps(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)


@pytest.fixture
def served(surroundings: dict[str, str]) -> Iterator[Served]:
    process = subprocess.Popen(
        [sys.executable, "-m", "labtui", "web"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=surroundings,
    )
    with process:
        try:
            yield Served(process)
        finally:
            process.kill()


@pytest.fixture
async def browser() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=PATIENCE_S)) as session:
        yield session


class Tab:
    """The browser's end of the websocket, with a terminal."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self.screen)

    async def wait_for(self, *words: str) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not all(word in "\n".join(self.screen.display) for word in words):
                message = await self.socket.receive()
                assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), "\n".join(
                    self.screen.display
                )
                if message.type is aiohttp.WSMsgType.BINARY:
                    self._stream.feed(message.data)

    async def press(self, keys: str) -> None:
        await self.socket.send_json(["stdin", keys])


def tab_of(browser: aiohttp.ClientSession, served: Served, **headers: str):
    return browser.ws_connect(f"{served.url.replace('http', 'ws')}ws?width=80&height=24", headers=headers)


async def test_the_app_arrives_and_keys_move_it_until_ctrl_c(served, browser) -> None:
    async with browser.get(served.url) as page:
        text = await page.text()
        assert page.status == 200
        assert page.headers["Referrer-Policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    found = re.search(r'data-session-websocket-url="([^"]+)"', text)
    assert found is not None and found[1] == f"{served.url.replace('http', 'ws')}ws"

    async with tab_of(browser, served, Origin=served.root) as socket:
        tab = Tab(socket)
        await tab.wait_for("labtui", "LESSONS", "Reading the KV cache line")
        await tab.press("d")
        await tab.wait_for("Doctor")
        apps = served.apps
        assert apps
        served.process.send_signal(signal.SIGINT)
        async with asyncio.timeout(PATIENCE_S):
            assert await asyncio.to_thread(served.process.wait) == 0
    gone, left = await asyncio.to_thread(psutil.wait_procs, apps, PATIENCE_S)
    assert gone and not left
    assert served.process.stderr is not None and "Traceback" not in served.process.stderr.read()


async def test_the_app_ends_with_its_tab_and_with_a_killed_web_server(served, browser) -> None:
    async with tab_of(browser, served) as socket:
        await Tab(socket).wait_for("LESSONS")
        first = served.apps
    async with tab_of(browser, served) as socket:
        await Tab(socket).wait_for("LESSONS")
        apps = [*first, *served.apps]
        served.process.kill()
        _, left = await asyncio.to_thread(psutil.wait_procs, apps, PATIENCE_S)
    assert len(apps) >= 2 and not left


async def test_strangers_are_kept_out(served, browser) -> None:
    async def status(url: str, **headers: str) -> int:
        async with browser.get(url, headers=headers, allow_redirects=False) as answer:
            return answer.status

    assert await status(served.url) == 200
    assert await status(f"{served.root}/") == 404
    assert await status(f"{served.root}/ws") == 404
    assert await status(f"{served.root}/static/js/textual.js") == 404
    # A page of another site: by its own name, by a name that was pointed at this machine, and through a script there.
    assert await status(served.url, Host="evil.example") == 403
    assert await status(served.url, Origin="http://evil.example") == 403
    assert await status(f"{served.root}/", Host="evil.example") == 403
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}):
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await tab_of(browser, served, **headers)
    assert served.apps == []
    # A tunnel may end at another port of the browser's machine.
    assert await status(served.url, Host="localhost:9999", Origin="http://localhost:9999") == 200
    listening = [one.laddr.ip for one in psutil.Process(served.process.pid).net_connections() if one.status == "LISTEN"]
    assert listening == ["127.0.0.1"]


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: install chromium to see the app as a browser does")
async def test_a_real_browser_shows_it_and_takes_a_key(served, browser, tmp_path: Path) -> None:
    chromium = await asyncio.create_subprocess_exec(
        CHROMIUM or "",
        *("--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--window-size=1000,600"),
        *(f"--user-data-dir={tmp_path}", served.url),
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    try:
        async with asyncio.timeout(2 * PATIENCE_S):
            assert chromium.stderr is not None
            while b"DevTools listening on" not in (line := await chromium.stderr.readline()):
                assert line, "Chromium did not start"
            port = line.decode().split("127.0.0.1:")[1].partition("/")[0]
            page = await _page_of(browser, port)
            async with browser.ws_connect(page) as devtools:
                await _until(devtools, "document.body.classList.contains('-first-byte')")
                await _until(devtools, "(document.querySelector('.xterm-helper-textarea').focus(), true)")
                pressed = {"key": "q", "text": "q", "code": "KeyQ"}
                await _ask(devtools, "Input.dispatchKeyEvent", type="keyDown", **pressed)
                # q leaves the app: the page says so.
                await _until(devtools, "document.body.classList.contains('-closed')")
    finally:
        chromium.kill()
        await chromium.wait()


async def _page_of(browser: aiohttp.ClientSession, port: str) -> str:
    while True:
        async with browser.get(f"http://127.0.0.1:{port}/json") as answer:
            pages = [one for one in json.loads(await answer.text()) if one["type"] == "page"]
        if pages:
            return str(pages[0]["webSocketDebuggerUrl"])


async def _ask(devtools: aiohttp.ClientWebSocketResponse, method: str, **parameters: object) -> dict:
    await devtools.send_json({"id": 1, "method": method, "params": parameters})
    while (answer := await devtools.receive_json()).get("id") != 1:
        pass
    return dict(answer["result"])


async def _until(devtools: aiohttp.ClientWebSocketResponse, condition: str) -> None:
    while (await _ask(devtools, "Runtime.evaluate", expression=condition))["result"].get("value") is not True:
        await asyncio.sleep(0.05)
