from __future__ import annotations

from pathlib import Path

import pytest
from small_books import MATCH, VERDICT, api, book, judge, page, reported, write

from xlamig.config.book import find_book
from xlamig.config.settings import Settings
from xlamig.rulebook import RulebookError, load
from xlamig.rulebook.load import compile_book, load_folders, read_folders
from xlamig.rulebook.strategies import STRATEGIES, check_registered

ROW = '[row."torch.f"]\nsignature = ["a"]\ntorch_xla = { severity = "info", mechanism = "no-op" }\n'
FROM_ROW = MATCH + 'table = "t"\n[[verdict]]\ntarget = "torch_xla"\nfrom-row = true\n'
FIX = MATCH + VERDICT + '[[fix]]\nstrategy = "accumulate"\napplicability = "safe"\n'


def mistake(folder: Path, *pages: str, tables: dict[str, str] | None = None) -> str:
    with pytest.raises(RulebookError) as caught:
        book(folder, *pages, tables=tables)
    return str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("note", "nott", ["relate[0].row", '"nott"']),
        ('["XLA001"]', "[]", ["relate[0].codes", "a list of codes"]),
        ("XLA001", "XLA999", ["relate", "XLA999"]),
    ],
)
def test_a_relation_names_what_exists(tmp_path: Path, old: str, new: str, parts: list[str]) -> None:
    relation = '[[relate]]\nrow = "note"\ncodes = ["XLA001"]\n'.replace(old, new)
    rule = page(MATCH + 'table = "t"\n' + VERDICT + relation)
    told = mistake(tmp_path, rule, tables={"api/t.toml": '[row."torch.f"]\nnote = "x"\n'})
    assert all(part in told for part in parts)


def test_a_plain_page_loads(tmp_path: Path) -> None:
    rule = book(tmp_path, page()).rule("XLA001")
    assert (rule.name, rule.status, rule.phase, rule.effort.level) == ("a-rule", "stable", "run", "simple")
    assert rule.targets == ("torch_xla",)
    assert rule.url == "https://xlamig.readthedocs.io/rules/XLA001/"
    assert rule.sections["Use instead"] == "Text."


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (page(mesage="x"), ["mesage: unknown key", '"message"']),
        (page(code="XLA1"), ["code", "XLA1"]),
        (page(name="A_rule"), ["name", "A_rule"]),
        (page(status="stabel"), ["status", '"stable"']),
        (page(status=None), ['"status" is missing']),
        (page(phase="runn"), ["phase", '"run"']),
        (page(phase=None), ['"phase" is missing']),
        (page(effort=None), ["effort", '"level" is missing']),
        (page(effort={"level": "simpel"}), ["effort.level", '"simple"']),
        (page(effort={"level": "simple", "unitt": "site"}), ["effort.unitt", '"unit"']),
        (page(effort="simple"), ["effort", "a table"]),
        (page(message=None), ['"message" is missing']),
        (page(message="two\nlines"), ["message", "one line"]),
        (page(message="{nmae}"), ["message", "{nmae}", '"name"']),
        (page(help="{device}"), ["help", "{device}"]),
        (page(help="{row.x}"), ["help", "{row.x}"]),
        (page(guarded="lowered"), ["guarded", '"lower"']),
        (page(supersedes=["XLA999"]), ["supersedes", "XLA999"]),
        (page(supersedes="XLA002"), ["supersedes", "a list"]),
        (page(successor="XLA002"), ["successor"]),
        (page(VERDICT), ['"match" is missing']),
        (page(MATCH), ['"verdict" is missing']),
        (page(MATCH.replace("fact", "fcat") + VERDICT), ["match[0]", '"fact"']),
        (page(MATCH.replace("api-use", "api-usee") + VERDICT), ["match[0].fact", '"api-use"']),
        (page(MATCH + 'vai = "call"\n' + VERDICT), ["match[0].vai", '"via"']),
        (page(MATCH + 'via = "cal"\n' + VERDICT), ["match[0].via", '"call"']),
        (page(MATCH + 'via = ["call", "improt"]\n' + VERDICT), ["match[0].via[1]", '"import"']),
        (page(MATCH + 'guards = "cdua"\n' + VERDICT), ["match[0].guards", '"cuda"']),
        (page(MATCH + "via = []\n" + VERDICT), ["match[0].via", "empty"]),
        (page(MATCH + "via = { nto = 'call' }\n" + VERDICT), ["match[0].via.nto", '"not"']),
        (page(MATCH + "via = { absent = false }\n" + VERDICT), ["match[0].via.absent", "true"]),
        (page(MATCH + "via = { kind = 'constant' }\n" + VERDICT), ["match[0].via.kind"]),
        (page(MATCH + "via = { has = 'call' }\n" + VERDICT), ["match[0].via.has"]),
        (page(MATCH + "scope = 1\n" + VERDICT), ["match[0].scope", "1"]),
        (page(MATCH + "span = 1\n" + VERDICT), ["match[0].span"]),
        (page(MATCH + "reasons = 'x'\n" + VERDICT), ["match[0].reasons", "present"]),
        (page(MATCH + "args = 'x'\n" + VERDICT), ["match[0].args", "table"]),
        (
            page(MATCH + "args = { x = { kind = 'konstant' } }\n" + VERDICT),
            ["match[0].args.x.kind", "constant"],
        ),
        (page(MATCH + "row = { x = 1 }\n" + VERDICT), ["match[0].row", "table"]),
        (page(MATCH + "table = 'g'\n" + VERDICT), ["match[0].table", '"g"']),
        (page(MATCH + "keyword = 'a b'\n" + VERDICT), ["match[0].keyword", "a b"]),
        (page(MATCH + "unless = { vai = 'call' }\n" + VERDICT), ["match[0].unless.vai", '"via"']),
        (page(MATCH + "unless = {}\n" + VERDICT), ["match[0].unless", "empty"]),
        (
            page('[[match]]\nfact = "api-use"\nvia = "call"\n' + VERDICT),
            ["match[0]", "name or table or keyword"],
        ),
        (page('[[match]]\nfact = "api-use"\nname = "torch*"\n' + VERDICT), ["match[0].name", "dot"]),
        (page('[[match]]\nfact = "api-use"\nname = "Tensor.c*"\n' + VERDICT), ["match[0].name", "method"]),
        (page('[[match]]\nfact = "environment"\nvariable = "*_X"\n' + VERDICT), ["match[0].variable"]),
        (page(MATCH + VERDICT.replace("torch_xla", "torch_xal")), ["verdict[0].target", '"torch_xla"']),
        (
            page(MATCH + VERDICT.replace('"torch_xla"', '["torch_xla", "torch_xal"]')),
            ["verdict[0].target", '"torch_xla"'],
        ),
        (page(MATCH + VERDICT.replace('"torch_xla"', "[]")), ["verdict[0].target", "each value once"]),
        (
            page(MATCH + VERDICT.replace('"torch_xla"', '["torch_xla", "torch_xla"]')),
            ["verdict[0].target", "each value once"],
        ),
        (page(MATCH + VERDICT.replace('"error"\nm', '"eror"\nm')), ["verdict[0].severity", '"error"']),
        (page(MATCH + VERDICT + "mechanisme = 1\n"), ["verdict[0].mechanisme", '"mechanism"']),
        (page(MATCH + "[[verdict]]\ntarget = 'torch_xla'\n"), ["verdict[0]", '"severity" is missing']),
        (
            page(MATCH + VERDICT + "when = { frequncy = 'step' }\n"),
            ["verdict[0].when.frequncy", '"frequency"'],
        ),
        (page(MATCH + VERDICT + "when = { frequency = 'stpe' }\n"), ["verdict[0].when.frequency", '"step"']),
        (page(MATCH + VERDICT + "confidence = 'sure'\n"), ["verdict[0].confidence", "certain"]),
        (page(MATCH + VERDICT + "measured = 'no'\n"), ["verdict[0].measured", "true or false"]),
        (page(MATCH + VERDICT + "effort = 'hard'\n"), ["verdict[0].effort", "trivial"]),
        (page(MATCH + VERDICT + "reason = '{nmae}'\n"), ["verdict[0].reason", '"name"']),
        (page(MATCH + VERDICT + "from-row = true\n"), ["verdict[0].from-row", "table"]),
        (page(FIX.replace("strategy", "stratgy")), ["fix[0]", '"stratgy"']),
        (page(FIX.replace('"safe"', '"save"')), ["fix[0].applicability", '"safe"']),
        (page(FIX + "tittle = 'x'\n"), ["fix[0].tittle", '"title"']),
        (page(FIX.replace("accumulate", "acumulate")), ["fix[0].strategy", '"accumulate"']),
        (page(FIX.replace("accumulate", "drop-argument")), ["fix[0]", 'needs "argument"']),
        (page(FIX.replace("accumulate", "drop-argument") + "argument = 1\n"), ["argument", "text or a list"]),
        (page(FIX + "argument = 'x'\n"), ["fix[0].argument", "accumulate has no such option"]),
        (
            page(MATCH + VERDICT.replace('mechanism = "error"\n', ""), mechanism="eror"),
            ["verdict[0].mechanism", '"error"'],
        ),
        (page(mechanism="error"), ["mechanism", "every verdict has its own"]),
        (page(unless={"vai": "call"}), ["match[0].unless", '"via"']),
        (page(help="{texts.a}", texts={"b": "x"}), ['there is no text "a"']),
        (page(texts={"b": "x"}), ["texts.b", "no sentence"]),
        (page(help="{texts.a}"), ["help", "{texts.a}"]),
        (page(FIX + "style = 'natif'\n"), ["fix[0].style", '"native"']),
        (page(FIX + "requires = [1]\n"), ["fix[0].requires", "list of text"]),
        (page(FIX + "when = { vai = 'call' }\n"), ["fix[0].when.vai", '"via"']),
        (page(FIX + "title = '{nmae}'\n"), ["fix[0].title", '"name"']),
        (page(body="no heading"), ['"# a-rule"']),
        (page(body="# a-rule\n\n## Example\n"), ['"## What it does" is missing']),
        (page("[[match]\n"), ["TOML", "line 8"]),
        (page(status="withdrawn"), ['"successor" is missing']),
    ],
)
def test_a_mistake_is_told_with_file_key_and_a_hint(tmp_path: Path, text: str, parts: list[str]) -> None:
    told = mistake(tmp_path, text)
    assert told.startswith("rules/XLA")
    assert [part for part in parts if part not in told] == [], told


@pytest.mark.parametrize(
    ("table", "parts"),
    [
        ("[rows.x]\n", ["rows", '"row"']),
        (ROW.replace("severity", "sevrity"), ['row."torch.f".torch_xla.sevrity', '"severity"']),
        (ROW.replace('"info"', '"inof"'), ['row."torch.f".torch_xla.severity', '"info"']),
        (ROW.replace('["a"]', '"a"'), ['row."torch.f".signature', "a list"]),
        ("[row.'torch.f'", ["TOML"]),
        ("[row.torch.a.f]\nalternative = 'x'\n", ["row.torch:", '[row."torch.a.f"]']),
        ("[row.torch.f]\ntorch_xla = { severity = 'info' }\n", ['[row."torch.f"]']),
        (ROW.replace("torch_xla", "torch_xlaa"), ['row."torch.f".torch_xlaa', '"torch_xla"']),
        (ROW.replace("signature", "signatur"), ['row."torch.f".signatur', '"signature"']),
    ],
)
def test_a_mistake_in_a_table(tmp_path: Path, table: str, parts: list[str]) -> None:
    told = mistake(tmp_path, page(), tables={"api/t.toml": table})
    assert told.startswith("rules/api/t.toml")
    assert [part for part in parts if part not in told] == [], told


def test_a_placeholder_in_a_row_is_checked_with_the_page(tmp_path: Path) -> None:
    table = ROW.replace("no-op", 'no-op", help = "{nmae}')
    told = mistake(tmp_path, page(FROM_ROW), tables={"api/t.toml": table})
    assert told.startswith("rules/api/t.toml") and "{nmae}" in told


def test_a_row_without_quotes_may_have_tables_of_its_own(tmp_path: Path) -> None:
    row = "[row.apex]\nsupport = { torch_xla = 'none' }\n[row.apex.since]\ntorch_xla = '1'\n"
    assert book(tmp_path, page(), tables={"packages/t.toml": row, "api/t.toml": ROW + "tpu = true\n"}).rules


def test_a_row_takes_the_mechanism_of_the_page(tmp_path: Path) -> None:
    table = {"api/t.toml": ROW.replace(', mechanism = "no-op"', "")}
    assert reported(book(tmp_path, page(FROM_ROW, mechanism="error"), tables=table), api()) == ["XLA001"]


@pytest.mark.parametrize("key", ["severity", "mechanism"])
def test_a_row_that_leaves_its_ruling_open_is_a_mistake(tmp_path: Path, key: str) -> None:
    table = ROW.replace('severity = "info", ' if key == "severity" else ', mechanism = "no-op"', "")
    told = mistake(tmp_path, page(FROM_ROW), tables={"api/t.toml": table})
    assert f'row."torch.f".torch_xla: "{key}" is missing' in told and "XLA001" in told


def test_a_row_that_no_match_fits_may_leave_its_ruling_open(tmp_path: Path) -> None:
    match = FROM_ROW.replace("[[verdict]]", 'row = { as = "x" }\n[[verdict]]')
    assert book(tmp_path, page(match), tables={"api/t.toml": ROW.replace('severity = "info", ', "")}).rules


def test_every_page_with_a_mistake_is_told(tmp_path: Path) -> None:
    told = mistake(tmp_path, page(phase="x"), page(code="XLA002", name="b-rule", phase="y"))
    assert "XLA001-a-rule.md" in told and "XLA002-b-rule.md" in told


def test_the_file_name_repeats_code_and_name(tmp_path: Path) -> None:
    folder = write(tmp_path / "rules", page())
    (folder / "XLA001-a-rule.md").rename(folder / "XLA001-other.md")
    with pytest.raises(RulebookError, match=r"XLA001-a-rule\.md"):
        load_folders([folder], Settings())


def test_two_pages_cannot_share_a_name(tmp_path: Path) -> None:
    assert "same code or name" in mistake(tmp_path, page(), page(code="XLA002"))


def test_a_page_without_a_head(tmp_path: Path) -> None:
    folder = write(tmp_path / "rules", page())
    (folder / "XLA001-a-rule.md").write_text("# a-rule\n")
    with pytest.raises(RulebookError, match=r"\+\+\+"):
        load_folders([folder], Settings())


def test_rules_cannot_supersede_each_other(tmp_path: Path) -> None:
    told = mistake(
        tmp_path, page(supersedes=["XLA002"]), page(code="XLA002", name="b-rule", supersedes=["XLA001"])
    )
    assert "XLA001" in told and "XLA002" in told


def test_two_tables_with_different_signatures_for_a_name(tmp_path: Path) -> None:
    other = ROW.replace('["a"]', '["b"]')
    told = mistake(tmp_path, page(), tables={"api/t.toml": ROW, "api/u.toml": other})
    assert "api/u.toml" in told and "api/t.toml" in told


def test_a_table_of_packages_has_no_apis(tmp_path: Path) -> None:
    told = mistake(tmp_path, page(MATCH + 'table = "t"\n' + VERDICT), tables={"packages/t.toml": "[row.x]\n"})
    assert "match[0].table" in told and "packages" in told


@pytest.mark.parametrize("folder", ["missing", "."])
def test_a_folder_without_rules_is_a_mistake(tmp_path: Path, folder: str) -> None:
    with pytest.raises(RulebookError):
        load_folders([tmp_path / folder], Settings())


def test_a_withdrawn_rule_needs_only_its_successor(tmp_path: Path) -> None:
    gone = page("", code="XLA002", name="gone", status="withdrawn", successor="XLA001", body="# gone\n")
    rules = book(tmp_path, page(), gone)
    assert rules.rule("gone").successor == "XLA001"
    assert rules.active == {"XLA001"}


def test_rules_of_a_book_without_mistakes_are_read_when_they_match(tmp_path: Path) -> None:
    other = page(MATCH.replace("torch.f", "torch.g") + VERDICT, code="XLA002", name="other-rule")
    known = book(tmp_path, page(), other).outline()
    again = compile_book(read_folders([tmp_path]), Settings(), outline=known)
    assert [one.finding.code for one in judge(again, api("torch.g"))] == ["XLA002"]
    assert [rule.code for rule in again.rules if "verdicts" in vars(rule)] == ["XLA002"]


def test_users_pages_stand_beside_ours(tmp_path: Path) -> None:
    ours = write(tmp_path / "rules", page())
    theirs = write(tmp_path / "theirs", page(code="ACME001", name="their-rule"))
    (theirs / "README.md").write_text("not a page")
    assert set(load_folders([ours, theirs], Settings()).codes) == {"XLA001", "ACME001"}


def test_windows_newlines_and_a_byte_order_mark(tmp_path: Path) -> None:
    folder = write(tmp_path / "rules", page())
    file = folder / "XLA001-a-rule.md"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    assert load_folders([folder], Settings()).rule("XLA001").sections["Example"] == "Text."


def test_a_heading_in_a_code_block_is_no_section(tmp_path: Path) -> None:
    text = page().replace("## Example\n\nText.", "## Example\n\n```python\n## not a heading\n```")
    sections = book(tmp_path, text).rule("XLA001").sections
    assert sections["Example"] == "```python\n## not a heading\n```"
    assert "not a heading" not in sections


def test_a_rule_is_found_by_code_or_name_and_else_guessed(tmp_path: Path) -> None:
    rules = book(tmp_path, page())
    assert rules.rule("xla001") is rules.rule("a-rule")
    with pytest.raises(RulebookError, match=r'"XLA01".*"XLA001"'):
        rules.rule("XLA01")


def test_the_digest_follows_every_page_and_table(tmp_path: Path) -> None:
    first = book(tmp_path, page(), tables={"api/t.toml": ROW}).digest
    assert book(tmp_path, page(), tables={"api/t.toml": ROW}).digest == first
    second = book(tmp_path, page(), tables={"api/t.toml": ROW + "note = 1\n"}).digest
    third = book(tmp_path, page() + "more").digest
    assert len({first, second, third}) == 3


@pytest.mark.skipif(not (find_book() / "api").is_dir(), reason="no pages in this checkout")
@pytest.mark.parametrize("target", ["torch_xla", "torch_tpu"])
def test_the_book_that_ships_loads(target: str) -> None:
    rules = load(Settings(target=target, preview=True))  # type: ignore[arg-type]
    assert rules.active


SHORT = """[texts]
why = "the host waits"

[[match]]
fact = "api-use"
name = "torch.f"

[[match]]
fact = "api-use"
name = "torch.g"
unless = { context = "loop" }

[[verdict]]
target = ["torch_xla", "torch_tpu"]
severity = "error"
reason = "{texts.why}, every time"
"""


def test_a_head_states_once_what_its_rows_share(tmp_path: Path) -> None:
    rule = book(tmp_path, page(SHORT, mechanism="error", unless={"context": "test-code"})).rule("XLA001")
    assert rule.targets == ("torch_xla", "torch_tpu")
    assert {v.ruling.mechanism for v in rule.verdicts} == {"error"}
    assert {v.ruling.reason.text for v in rule.verdicts if v.ruling.reason} == {"the host waits, every time"}
    assert [match["unless"] for match in rule.page.head["match"]] == [
        [{"context": "test-code"}],
        [{"context": "test-code"}, {"context": "loop"}],
    ]


@pytest.mark.parametrize(
    ("names", "file"),
    [
        (STRATEGIES.keys() - {"display"}, "fix/strategies/__init__.py"),
        (STRATEGIES.keys() | {"acme"}, "rulebook/strategies.py"),
    ],
)
def test_a_strategy_is_registered_at_both_places(names: set[str], file: str) -> None:
    with pytest.raises(RulebookError, match=file):
        check_registered(names)


MEDIAN = '[[match]]\nfact = "api-use"\nname = "torch.median"\nargs = { dmi = 1 }\n'


def test_an_argument_that_is_nearly_a_parameter_is_a_mistake(tmp_path: Path) -> None:
    assert 'args.dmi: no such parameter; did you mean "dim"?' in mistake(tmp_path, page(MEDIAN + VERDICT))
    own = page(MATCH + 'table = "t"\nargs = { aa = 1 }\n' + VERDICT)
    assert '"a"' in mistake(tmp_path, own, tables={"api/t.toml": ROW})


@pytest.mark.parametrize("more", ['"acme.f"', '"torch.fft.*"'])
def test_a_function_that_is_not_known_may_have_any_parameter(tmp_path: Path, more: str) -> None:
    match = MEDIAN.replace('"torch.median"', f'["torch.median", {more}]')
    assert book(tmp_path, page(match + VERDICT)).rules


def test_a_context_is_one_that_facts_have(tmp_path: Path) -> None:
    match = MATCH + 'context = "per-stpe"\n'
    assert '"per-step"' in mistake(tmp_path, page(match + VERDICT))
