"""The page of a trace: complete, on its own, and nothing that it shows breaks out."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from traces import EMPTY, EVENTS, FAILED, FAILURE, HEALTHY, TEXT, TRACE, event, spot

from xlamig.cli import xlamig
from xlamig.observations import Failure, Spot, Trace
from xlamig.report import trace_html
from xlamig.report.context import Context
from xlamig.report.trace_source import FOLDED, SHORT, source_lines

VOID = {"meta", "br"}
TAGS = {
    "html", "head", "meta", "title", "style", "body", "header", "main", "footer", "section", "h1", "h2", "dl",
    "dt", "dd", "ol", "li", "p", "a", "b", "div", "span", "code", "pre", "details", "summary",
}  # fmt: skip


@dataclass
class Page(HTMLParser):
    """Fails on a tag that is not ours, or is closed where it is not open."""

    source: str
    open: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)  # the source lines
    marked: str = ""
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        assert tag in TAGS
        assert set(values) <= {
            "class",
            "id",
            "href",
            "style",
            "lang",
            "charset",
            "name",
            "content",
            "http-equiv",
        }
        self.ids += filter(None, [values.get("id")])
        self.links += filter(None, [values.get("href")])
        if tag == "code" and self.open[-1] == "div":
            self.code.append("")
        if tag not in VOID:
            self.open.append(f"{tag}!" if (values.get("class") or "").endswith("-Marked") else tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().removesuffix("!") == tag

    def handle_data(self, data: str) -> None:
        if "code" in self.open and self.open[self.open.index("code") - 1] == "div":
            self.code[-1] += data
        if self.open and self.open[-1].endswith("!"):
            self.marked += data
        if "style" not in self.open:
            self.text += data


def page(trace: Trace, source: str | None = TEXT) -> Page:
    return Page(trace_html.render(trace, Context(lambda filename: source)))


def section(text: str) -> str:
    """Without what depends on how the template is laid out."""
    return re.sub(r"\s+", " ", text)


def test_nothing_is_loaded_and_nothing_runs() -> None:
    found = page(FAILED)
    assert "default-src 'none'" in found.source
    assert not re.search(r"@import|url\(|javascript:|\son\w+=", found.source)
    assert {link for link in found.links if not link.startswith("#")} == {
        f"https://xlamig.readthedocs.io/rules/{code}/" for code in ("XLA001", "XLA101", "XLA202")
    }


@pytest.mark.parametrize("source", [TEXT, None, "", "short"], ids=["there", "gone", "empty", "shorter"])
@pytest.mark.parametrize("trace", [TRACE, EMPTY, HEALTHY, FAILED], ids=["full", "empty", "healthy", "failed"])
def test_every_link_within_the_page_has_one_end(trace: Trace, source: str | None) -> None:
    found = page(trace, source)
    assert len(set(found.ids)) == len(found.ids)
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.ids)


def test_a_program_without_steps_or_events() -> None:
    found = page(EMPTY)
    assert "the graph only grows" in found.text
    assert "Time by line" not in found.text
    assert "No line reads" not in found.text
    assert found.code == []


def test_a_healthy_program_is_said_to_be() -> None:
    found = page(HEALTHY)
    assert "No line reads, recompiles or falls back." in found.text
    assert 'class="well"' in found.source
    assert "Time by line" not in found.text


def test_an_unhealthy_one_is_not() -> None:
    assert 'class="well"' not in page(TRACE).source
    assert 'class="ill">0/2.5/1 per step, healthy is 0/1/0<' in page(TRACE).source


@pytest.mark.parametrize("source", [None, "", "short"])
def test_events_survive_their_source(source: str | None) -> None:
    found = page(FAILED, source)
    assert ("cannot be read any more" in found.text) == (source is None)
    for told in ("read on the host (item)", "8x4 -> 2x4", "no device\nat all"):
        assert told in found.text
    assert found.marked == ""


def test_what_has_no_line_stands_apart() -> None:
    found = section(page(replace(TRACE, events=(event("operator", "fallback"),))).text)
    assert "Without a line In a library, not called by the program's own lines." in found
    assert "No line reads" not in found


def test_the_file_is_shown_with_what_happened_marked() -> None:
    found = page(replace(TRACE, events=(EVENTS[1], EVENTS[2])))
    assert found.code == TEXT.splitlines()
    assert found.marked == "loss.item()batch[batch > 0]"


def test_a_line_has_its_count_and_its_seconds_in_the_gutter() -> None:
    assert '<span class="row">8</span><span class="count">8×</span><span class="seconds">0.25 s</span>' in (
        page(TRACE).source
    )


def test_a_recompilation_at_the_line_that_ran_it_is_not_counted_twice() -> None:
    where = spot("loss.item()")
    read = event(where=where, seconds=2.0, compile_seconds=1.5)
    caused = event("changing-shape", "input", where, seconds=0.0, compile_seconds=1.5)
    assert '<span class="seconds">2.00 s</span>' in page(replace(TRACE, events=(read, caused))).source


def test_an_exception_is_told_at_the_top_and_at_its_line() -> None:
    found = page(replace(EMPTY, failure=FAILURE))
    assert section(found.text).count("no device at all") == 2
    assert "Raised at train.py:7:5" in section(found.text)
    assert "#f0-7" in found.links
    assert found.code == TEXT.splitlines()


def test_an_exception_without_a_place() -> None:
    found = page(replace(EMPTY, failure=Failure("KeyError", "", None)))
    assert "KeyError" in found.text
    assert "Raised at" not in found.text


def test_backticks_are_code_in_advice_only() -> None:
    found = page(replace(EMPTY, failure=Failure("E", "a `b` c", None, "XLA001", "use `x < y`")))
    assert "use <code>x &lt; y</code>" in found.source
    assert "a `b` c" in found.text


def test_a_long_file_is_folded_away_from_its_events() -> None:
    source = "\n".join(f"line {row}" for row in range(1, SHORT + 200))
    where = Spot("train.py", 100, 1, 100, 5)
    found = page(replace(EMPTY, events=(event(where=where),)), source)
    assert found.code == source.split("\n")
    before, after = re.findall(r"<summary>(.*?)</summary>", found.source)
    assert (before, after) == ("Lines 1 to 94", f"Lines 106 to {SHORT + 199}")


def test_a_very_long_fold_holds_nothing() -> None:
    source = "x\n" * (FOLDED + 100)
    found = page(replace(EMPTY, events=(event(where=Spot("train.py", 1, 1, 1, 2)),)), source)
    assert len(found.code) == 6
    assert f"Lines 7 to {FOLDED + 100} are left out." in found.text


TEXTS = st.text(
    st.one_of(st.characters(), st.sampled_from("<>&\"'`\\\n\r\t\x00\x1b{}%#\ud800")), max_size=40
).map(lambda text: text if len(text) % 3 else f"</script></code><!--{text}")


def shown(source: str) -> list[str]:
    """Its lines, without what no document may hold."""
    lines = re.split(r"\r\n?|\n", source.removeprefix("\ufeff"))
    kept = lines if lines[-1] else lines[:-1]
    return ["".join(char if char.isprintable() or char == "\t" else "·" for char in line) for line in kept]


@given(TEXTS, TEXTS, st.tuples(*[st.integers(1, 9)] * 4))
def test_nothing_breaks_out(source: str, words: str, place: tuple[int, int, int, int]) -> None:
    where = Spot(f"{words}.py", *place)
    evil = event(via=words, where=where, detail=words, rule="XLA101", message=words)
    failure = Failure(words, words, where, "XLA101", words)
    trace = replace(TRACE, device=words, events=(evil,), failure=failure, redirected=((words, 1),))
    found = page(replace(trace, boundary=None), source)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", found.source)
    assert found.code[: len(shown(source))] == shown(source)


@given(TEXTS, st.lists(st.tuples(*[st.integers(1, 9)] * 4), max_size=4))
def test_places_change_no_text(source: str, places: list[tuple[int, int, int, int]]) -> None:
    lines = source_lines(source, [Spot("a.py", *place) for place in places])
    assert [unescape(re.sub(r"<[^>]*>", "", line)) for line in lines] == shown(source)


def test_a_page_that_could_not_be_written_is_told_before_the_program_runs(tmp_path: Path) -> None:
    path = tmp_path / "no" / "page.html"
    result = CliRunner().invoke(xlamig, ["trace", "--html", str(path), "nowhere.py"])
    assert result.exit_code == 2
    assert "no file in an existing folder" in result.output
