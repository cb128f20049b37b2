"""The input and output of the second stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from xlamig import ir
from xlamig.artifacts.native import Links, Native
from xlamig.config.settings import Settings
from xlamig.engine.cache import digest_of
from xlamig.engine.load import Failure
from xlamig.findings import Aside, FileReport
from xlamig.fix.scope import Scope
from xlamig.flow import Interface
from xlamig.flow.interp.module_text import ModuleText
from xlamig.flow.interp.visits import Visit
from xlamig.flow.model.callers import NO_CALLERS, Callers
from xlamig.flow.model.outcomes import State
from xlamig.rulebook.program import UNSEEN, Program
from xlamig.source.text import SourceText


@dataclass(frozen=True, slots=True)
class AnalyseJob:
    """`tree` is None for a file that can give no fact, or failed to parse."""

    source: SourceText
    path: Path
    module: str
    is_package: bool
    settings: Settings
    tree: bytes | ir.Module | None
    interfaces: Mapping[str, Interface]
    failure: Failure | None = None
    home: Scope | None = None  # where the file imports the helper from
    package: Path | None = None  # the folder of its top package
    program: Program = UNSEEN
    callers: Callers = NO_CALLERS
    native: tuple[Native, Links] | None = None  # of a C++ or CUDA source
    kernels: tuple[tuple[int, str], ...] = ()  # where it calls kernels, and the files that hold them
    own: frozenset[str] = frozenset()  # packages that the program itself is
    texts: Mapping[str, ModuleText] = field(default_factory=dict)  # of modules whose functions may be run
    visit: Visit | None = None  # what other modules run of this one
    exposes: tuple[str, ...] = ()  # what raises in its programs once they choose XLA
    beside: Aside | None = None  # what the file is, if it is not the program itself
    unread: str = ""  # a file of its programs that was not read
    gpu_only: str = ""  # why the file serves NVIDIA GPUs alone
    on_host: bool = False  # a notebook or script that uses no device
    unmentioned: tuple[str, ...] = ()  # functions and classes that nothing in the program mentions
    off: tuple[tuple[str, str], ...] = ()  # those that only code mentions which never runs, and its test
    switches: tuple[tuple[str, State], ...] = ()  # of the options that it tests, those that nothing changes
    devices: tuple[tuple[str, str], ...] = ()  # settings that are CUDA devices in a file, see device_settings
    elsewhere: tuple[str, ...] = ()  # the habits of other files of its programs, see Clues
    starts_early: bool = False  # a module of a package that may choose a device when it is imported

    def key(self, loaded: str, seals: str, session: str) -> str:
        """The key of the result. The key of the first stage says what the tree and the native summary are,
        `seals` is a digest of the interfaces that names of the module may mean, `session` is one of the
        settings and the rules."""
        return digest_of(
            self,
            source=f"{replace(self.source, text='')} {self.source.text}",
            tree=loaded,
            native=self.native and self.native[1],
            settings=session,
            interfaces=seals,
            texts="",  # the result lists those that it depends on
            program=self.program.key,
        )


@dataclass(frozen=True, slots=True)
class Analysed:
    """A file's report, and what is found out about each module that ran."""

    report: FileReport
    visits: Mapping[str, Visit] = field(default_factory=dict)
    entered: tuple[str, ...] = ()  # the modules whose functions it ran
