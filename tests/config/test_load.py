from __future__ import annotations

from pathlib import Path

import pytest

from xlamig.config.errors import ConfigError
from xlamig.config.load import Resolver, parse_inline
from xlamig.config.settings import DEFAULT_EXCLUDE, EffortSettings, Settings


@pytest.fixture(autouse=True)
def _at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty working directory and an empty home."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path.absolute()


def at(path: str = ".", **overrides: object) -> Settings:
    return Resolver({k.replace("_", "-"): v for k, v in overrides.items()}).settings_for(Path(path))


def error(**overrides: object) -> str:
    with pytest.raises(ConfigError) as caught:
        at(**overrides)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# -------------------------------------------------------------------------------- discovery


def test_no_file_is_all_default() -> None:
    assert at("a/b.py") == Settings(root=Path.cwd(), source=None)


@pytest.mark.parametrize(
    "text", ["[tool.ruff]\n", "[tool]\nxlamig = 1\n", "[broken\n", '[project]\nname = "xlamig"\n']
)
def test_pyproject_without_the_table_is_passed_over(text: str) -> None:
    write("xlamig.toml", "preview = true")
    write("a/pyproject.toml", text)
    assert at("a").preview


def test_broken_pyproject_that_mentions_us_is_an_error() -> None:
    write("pyproject.toml", "[tool.xlamig]\nselect = [\n")
    assert error().startswith("pyproject.toml: not valid TOML: ")


def test_names_in_one_folder() -> None:
    write("pyproject.toml", "[tool.xlamig]\nhelper = 'third'")
    assert at().helper == "third"
    write("xlamig.toml", "helper = 'second'")
    assert at().helper == "second"
    source = write(".xlamig.toml", "helper = 'first'")
    assert (at().helper, at().source, at().root) == ("first", source, Path.cwd())


def test_closest_file_wins_and_nothing_is_merged() -> None:
    write("xlamig.toml", "helper = 'outer'\npreview = true")
    write("a/xlamig.toml", "helper = 'inner'")
    assert (at("a/b/c.py").helper, at("a/b/c.py").preview) == ("inner", False)
    assert at("b/c.py").helper == "outer"
    assert at("a/b").root == Path.cwd() / "a"


def test_root_is_absolute_for_a_relative_path(monkeypatch: pytest.MonkeyPatch) -> None:
    write("a/xlamig.toml", "preview = true")
    monkeypatch.chdir("a")
    assert at(".").root == at("../a/x.py").root == Path.cwd()


def test_users_own_file_is_the_last_resort(tmp_path: Path) -> None:
    write(str(tmp_path / "home/xlamig/xlamig.toml"), "helper = 'mine'\npreview = true")
    write("a/xlamig.toml", "helper = 'theirs'")
    assert (at().helper, at().root) == ("mine", Path.cwd())
    assert (at("a").helper, at("a").preview) == ("theirs", False)
    assert Resolver(isolated=True).settings_for(Path()).helper == "xla_compat"


def test_isolated_reads_nothing() -> None:
    write("xlamig.toml", "nonsense")
    assert Resolver(isolated=True).settings_for(Path("a.py")) == Settings(root=Path.cwd())


def test_explicit_file_holds_everywhere() -> None:
    write("a/xlamig.toml", "helper = 'near'")
    write("conf/any.toml", "helper = 'chosen'\nrules = ['pages']")
    found = Resolver(explicit=Path("conf/any.toml")).settings_for(Path("a/b.py"))
    assert (found.helper, found.root) == ("chosen", Path.cwd())
    assert found.rules == (Path.cwd() / "conf/pages",)


def test_explicit_file_that_cannot_be_used() -> None:
    for name in ("gone.toml", "pyproject.toml", "."):
        Path("pyproject.toml").write_text("[tool.ruff]")
        with pytest.raises(ConfigError, match=name):
            Resolver(explicit=Path(name))


def test_explicit_and_isolated_exclude_each_other() -> None:
    with pytest.raises(ConfigError, match="isolated"):
        Resolver(explicit=write("x.toml", ""), isolated=True)


def test_one_settings_per_configuration() -> None:
    write("xlamig.toml", "preview = true")
    resolver = Resolver()
    assert resolver.settings_for(Path("a/b.py")) is resolver.settings_for(Path("c/d/e.py"))


# ----------------------------------------------------------------------------------- extend


def test_extend_is_relative_and_the_nearer_file_wins() -> None:
    write("shared/base.toml", "helper = 'base'\npreview = true\nextend = 'more.toml'")
    write("shared/more.toml", "helper = 'more'\ntarget = 'torch_tpu'\nrules = ['pages']")
    write("a/xlamig.toml", "extend = '../shared/base.toml'\npreview = false")
    found = at("a")
    assert (found.helper, found.preview, found.target) == ("base", False, "torch_tpu")
    assert found.rules == (Path.cwd() / "shared/pages",)
    assert found.root == Path.cwd() / "a"


def test_extending_keys_add_up_and_effort_is_merged() -> None:
    write(
        "base.toml", "extend-exclude = ['a']\nselect = ['XLA1']\neffort = {exponent = 0.5, hours-per-day = 6}"
    )
    write(
        "xlamig.toml",
        "extend = 'base.toml'\nextend-exclude = ['b']\nselect = ['XLA2']\n[effort]\nhours-per-day = 7",
    )
    found = at(extend_exclude=["c"])
    assert (found.extend_exclude, found.select) == (("a", "b", "c"), ("XLA2",))
    assert found.effort == EffortSettings(exponent=0.5, hours_per_day=7)


def test_extend_pyproject() -> None:
    write("base/pyproject.toml", "[tool.xlamig]\npreview = true")
    write("xlamig.toml", "extend = 'base/pyproject.toml'")
    assert at().preview


def test_extend_in_a_circle() -> None:
    write("xlamig.toml", "extend = 'other.toml'")
    write("other.toml", "extend = './xlamig.toml'")
    assert error() == "other.toml: extend: is circular: xlamig.toml -> other.toml -> xlamig.toml"


def test_extend_of_a_missing_file() -> None:
    write("xlamig.toml", "extend = 'gone.toml'")
    assert error() == "gone.toml: cannot be read: No such file or directory"


# ------------------------------------------------------------------------------- overrides


def test_command_line_wins() -> None:
    write("xlamig.toml", "helper = 'file'\nfail-on = 'info'")
    found = at(helper="line", fail_on=None)
    assert (found.helper, found.fail_on) == ("line", "info")


def test_command_line_paths_start_from_the_working_directory() -> None:
    write("a/xlamig.toml", "cache-dir = 'cache'")
    assert at("a").cache_dir == Path.cwd() / "a/cache"
    assert at("a", cache_dir="cache").cache_dir == Path.cwd() / "cache"


def test_select_on_the_command_line_starts_afresh() -> None:
    write("xlamig.toml", "select = ['XLA2']\nextend-select = ['XLA3']\nignore = ['XLA101', 'XLA102']")
    found = at(select=("XLA101",))
    assert (found.select, found.extend_select, found.ignore) == (("XLA101",), (), ("XLA102",))
    assert at(select=("XLA101",), ignore=("XLA101",)).ignore == ("XLA101",)
    assert at(extend_select=("XLA4",)).extend_select == ("XLA3", "XLA4")


def test_strategy_is_the_style() -> None:
    assert at(strategy="native").style == "native"


def test_inline() -> None:
    assert parse_inline("effort.exponent = 0.5") == {"effort": {"exponent": 0.5}}
    assert Resolver(parse_inline("select=['XLA1']")).settings_for(Path()).select == ("XLA1",)


@pytest.mark.parametrize("text", ["preview", "=1", "select=[", "", "a=" + "[" * 5000])
def test_broken_inline(text: str) -> None:
    with pytest.raises(ConfigError, match="KEY=VALUE"):
        Resolver(parse_inline(text or "="))


def test_inline_string_without_quotes() -> None:
    with pytest.raises(ConfigError, match="strings need quotes: target='torch_tpu'"):
        parse_inline("target=torch_tpu")


# ----------------------------------------------------------------------------------- errors


def test_error_names_file_key_and_the_expected() -> None:
    write("a/b/xlamig.toml", "target = 'torch-xla'")
    with pytest.raises(ConfigError) as caught:
        at("a/b")
    assert str(caught.value) == (
        'a/b/xlamig.toml: target: expected one of "torch_xla", "torch_tpu", got "torch-xla"; '
        'did you mean "torch_xla"?'
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("fail_on = 'error'", 'unknown key "fail_on"; did you mean "fail-on"?'),
        ("qqqq = 1", 'unknown key "qqqq"; `xlamig config` lists the keys'),
        ("[effort]\nexponents = 1", 'unknown key "effort.exponents"; did you mean "exponent"?'),
        ("effort = 3", "effort: expected a table, got 3"),
        ("select = 'XLA1'", 'select: expected a list of strings, got "XLA1"'),
        ("select = [1]", "select: expected a list of strings, got 1"),
        ("preview = 'yes'", 'preview: expected true or false, got "yes"'),
        ("max-file-size = 0", "max-file-size: expected a whole number from 1, got 0"),
        ("max-file-size = 1.5", "max-file-size: expected a whole number from 1, got 1.5"),
        ("max-file-size = true", "max-file-size: expected a whole number from 1, got true"),
        ("keep-working-on = ['cuda', 'rocm']", 'keep-working-on: expected a list out of "cuda", '),
        ("helper = 'not a module'", 'helper: expected a module name, got "not a module"'),
        ("cache-dir = ''", 'cache-dir: expected a path, got ""'),
        ("rules = 'pages'", 'rules: expected a list of paths, got "pages"'),
        ("extend = []", "extend: expected a path, got []"),
        (
            "exclude = ['!']",
            'exclude: expected a list of names and globs, each with at most four `**`, got "!"',
        ),
        ("per-file-ignores = ['a']", "per-file-ignores: expected a table from globs to lists of codes"),
        ("per-file-ignores = {a = 'XLA1'}", 'lists of codes, got "XLA1"'),
        ("effort.exponent = 0", "effort.exponent: expected a number above 0 to 1, got 0"),
        ("effort.exponent = 1.1", "effort.exponent: expected a number above 0 to 1, got 1.1"),
        ("effort.hours-per-day = nan", "effort.hours-per-day: expected a number above 0 to 24, got nan"),
        ("effort.overhead-low-hours = inf", "effort.overhead-low-hours: expected a number from 0, got inf"),
        (
            "effort.overhead-low-hours = 99",
            "effort.overhead-low-hours: expected at most effort.overhead-high-hours",
        ),
        ("effort.levels = {simpel = [1, 2]}", 'got "simpel"; did you mean "simple"?'),
        ("effort.levels = {simple = [1]}", "to [offset, per site] in minutes, got [1]"),
        ("[tool.xlamig]\npreview = true", "[tool.xlamig] is for pyproject.toml"),
        ("a = " + "[" * 5000, "nested too deeply"),
    ],
)
def test_bad_value(text: str, says: str) -> None:
    write("xlamig.toml", text)
    message = error()
    assert message.startswith("xlamig.toml: ")
    assert says in message


def test_error_on_the_command_line() -> None:
    with pytest.raises(ConfigError, match=r'^command line: severity: expected .* did you mean "warning"'):
        Resolver({"severity": "warnings"})


def test_file_that_is_no_text() -> None:
    Path("xlamig.toml").write_bytes(b"\xff")
    assert error() == "xlamig.toml: not UTF-8"


def test_byte_order_mark_is_accepted() -> None:
    Path("xlamig.toml").write_bytes(b"\xef\xbb\xbfpreview = true\n")
    assert at().preview


def test_defaults_stay_untouched() -> None:
    write("xlamig.toml", "[effort.levels]\nsimple = [1, 2.5]\n[per-file-ignores]\n'tests/*' = ['XLA1']")
    found = at()
    assert found.effort.levels == {"simple": (1.0, 2.5)}
    assert found.per_file_ignores == {"tests/*": ("XLA1",)}
    assert (Settings().effort.levels, found.exclude) == ({}, DEFAULT_EXCLUDE)


# -------------------------------------------------------------------------------- where results are kept


@pytest.mark.parametrize("folder", ["kept", "sub/../kept", "../kept", "../../home-cache/xlamig"])
def test_a_configuration_keeps_results_in_its_repository_or_the_users_cache(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home-cache"))
    write(".git/HEAD", "")
    write("sub/xlamig.toml", f'cache-dir = "{folder}"')
    kept = at("sub").cache_dir
    assert kept is not None
    assert kept.resolve() == Path("sub", folder).resolve()


@pytest.mark.parametrize("folder", ["../elsewhere", "/elsewhere", "~/.ssh", "link/kept", "../work-too"])
def test_a_configuration_keeps_results_nowhere_else(folder: str, tmp_path: Path) -> None:
    (tmp_path / "work-too").mkdir()
    Path("link").symlink_to(tmp_path / "work-too")
    write("xlamig.toml", f'cache-dir = "{folder}"')
    said = error()
    assert said.startswith("xlamig.toml: cache-dir: expected a folder in the repository or in your cache")
    assert "--cache-dir" in said


def test_a_base_of_the_configuration_is_no_way_out(tmp_path: Path) -> None:
    write("base.toml", f'cache-dir = "{tmp_path}"')
    write("xlamig.toml", 'extend = "base.toml"')
    assert "cache-dir" in error()


def test_the_user_keeps_results_anywhere(tmp_path: Path) -> None:
    file = write("xlamig.toml", f'cache-dir = "{tmp_path}"')
    assert at(cache_dir=str(tmp_path / "here")).cache_dir == tmp_path / "here"
    assert Resolver(explicit=file).settings_for(Path()).cache_dir == tmp_path
    file.unlink()
    write("../home/xlamig/xlamig.toml", f'cache-dir = "{tmp_path}"')
    assert at().cache_dir == tmp_path
