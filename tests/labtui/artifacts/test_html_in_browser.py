"""The exported page in a real Chromium: on A4 paper, at phone width, light and dark."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from labtui.artifacts.writing import export_lesson
from labtui.predicting import check, predict
from lessons.finding import find_lesson

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome", "chrome") if (found := shutil.which(name))),
    None,
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: install chromium to see the page as a browser does"),
]

A4_POINTS = (595, 842)
PHONE_PIXELS = 390
DARK, LIGHT = "0", "1"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="60"><circle cx="30" cy="30" r="20" fill="red"/></svg>'

MEASURE = """
<iframe id="page" style="width:WIDTHpx;height:800px;border:0" srcdoc="PAGE"></iframe><pre id="found"></pre>
<script>
onload = () => {
  const view = document.getElementById("page").contentWindow, inside = view.document;
  const wide = [...inside.querySelectorAll("body *")].filter(one => one.getBoundingClientRect().right > WIDTH + 1);
  document.getElementById("found").textContent = JSON.stringify({
    width: inside.documentElement.scrollWidth,
    wide: wide.map(one => one.outerHTML.slice(0, 80)),
    fetched: view.performance.getEntriesByType("resource").map(one => one.name),
    pictures: [...inside.images].map(one => one.naturalWidth),
    paper: view.getComputedStyle(inside.body).backgroundColor,
    ink: view.getComputedStyle(inside.body).color,
  });
};
</script>
"""


@pytest.fixture
def page(store, now, tmp_path) -> str:
    """The real lesson, with what was done for the small one."""
    lesson = replace(find_lesson("diffusiongemma"), id="small")
    store.runs.add(replace(store.runs.get("bbb"), id="r-20261130-212030-svg", output=SVG + "x" * 400))
    store.verdicts.save("small", "Fast enough for drafts; for merged code I would take Gemma 4.", ["svg", "ccc"])
    (written,) = export_lesson(lesson, store, ["html"], tmp_path, now=now)
    return written.read_text("utf-8")


@pytest.fixture
def page_with_plots(page, store, now, tmp_path, sweeps) -> str:
    for document in sweeps:
        store.sweeps.save(document)
    lesson = replace(find_lesson("diffusiongemma"), id="small")
    (written,) = export_lesson(lesson, store, ["html"], tmp_path, now=now)
    return written.read_text("utf-8")


@pytest.fixture
def chromium(tmp_path):
    def run(address: str, *options: str) -> str:
        assert CHROMIUM is not None
        return subprocess.run(
            [
                CHROMIUM,
                *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
                *("--disable-background-networking", "--disable-component-update", "--no-default-browser-check"),
                "--host-resolver-rules=MAP * ~NOTFOUND",
                f"--user-data-dir={tmp_path / 'profile'}",
                *options,
                address,
            ],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout

    return run


def measured(chromium, tmp_path: Path, page: str, width: int, scheme: str = LIGHT) -> dict:
    frame = tmp_path / "frame.html"
    frame.write_text(MEASURE.replace("WIDTH", str(width)).replace("PAGE", html.escape(page)), "utf-8")
    dom = chromium(frame.as_uri(), f"--blink-settings=preferredColorScheme={scheme}", "--dump-dom")
    found = re.search(r'<pre id="found">(.*?)</pre>', dom)
    assert found, dom[-400:]
    return json.loads(html.unescape(found.group(1)))


def printed(chromium, tmp_path: Path, page: str) -> tuple[int, list[tuple[int, int]]]:
    """How many pages, and their sizes in points."""
    source, target = tmp_path / "print.html", tmp_path / "print.pdf"
    source.write_text(page, "utf-8")
    chromium(source.as_uri(), "--no-pdf-header-footer", f"--print-to-pdf={target}")
    content = target.read_bytes()
    count = re.search(rb"/Type /Pages\s*/Count (\d+)", content)
    assert count
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", content)
    return int(count.group(1)), [(round(float(width)), round(float(height))) for width, height in boxes]


def test_the_map_is_one_page_of_a4_and_the_rest_follows(chromium, tmp_path, page):
    first, second = re.findall(r'<section class="sheet[^>]*>.*?</section>', page, re.DOTALL)
    foot = page[page.index("<footer>") : page.index("</main>")]
    alone = page.replace(second, "").replace(foot, "")
    assert printed(chromium, tmp_path, alone)[0] == 1, "the map with its verdict and gates"
    pages, boxes = printed(chromium, tmp_path, page)
    assert pages == 1 + printed(chromium, tmp_path, page.replace(first, ""))[0]
    assert set(boxes) == {A4_POINTS}


@pytest.mark.parametrize("width", [PHONE_PIXELS, 320, 1000])
def test_nothing_sticks_out_and_nothing_is_fetched(chromium, tmp_path, page_with_plots, width):
    assert page_with_plots.count("<svg") == 3
    found = measured(chromium, tmp_path, page_with_plots, width)
    assert found["wide"] == []
    assert found["width"] <= width
    assert found["fetched"] == []
    assert found["pictures"] and all(found["pictures"]), "the drawing is shown"


def test_a_lesson_without_a_video_and_with_predictions_looks_right_too(chromium, tmp_path, store, now):
    lesson = find_lesson("kv-cache-line")
    for one in lesson.predictions:
        predict(lesson, one, f"1,000 {'since_it_is_so_' * 9} as I think", store)
        check(lesson, one, store, recorded=True)
    for card in lesson.cards:
        store.progress.save_note(lesson.id, f"card/{card.id}", "Four requests at once, whatever the line says.")
    (written,) = export_lesson(lesson, store, ["html"], tmp_path, now=now)
    page = written.read_text("utf-8")
    _, second = re.findall(r'<section class="sheet[^>]*>.*?</section>', page, re.DOTALL)
    foot = page[page.index("<footer>") : page.index("</main>")]
    assert printed(chromium, tmp_path, page.replace(second, "").replace(foot, ""))[0] == 1
    found = measured(chromium, tmp_path, page, PHONE_PIXELS)
    assert found["wide"] == []
    assert found["width"] <= PHONE_PIXELS


def test_it_follows_light_and_dark(chromium, tmp_path, page):
    light = measured(chromium, tmp_path, page, PHONE_PIXELS, LIGHT)
    dark = measured(chromium, tmp_path, page, PHONE_PIXELS, DARK)
    assert light["paper"] == "rgb(255, 255, 255)"
    assert brightness(light["paper"]) > 200 > 60 > brightness(light["ink"])
    assert brightness(dark["ink"]) > 200 > 60 > brightness(dark["paper"])


def brightness(colour: str) -> float:
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3
