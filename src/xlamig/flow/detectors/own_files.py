"""Find the files that a module loads and has written itself: in the same run, or with data of the host."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from xlamig import ir
from xlamig.facts import ApiUse, Fact, Span
from xlamig.flow.detectors.same_run import SameRun
from xlamig.flow.model.by_kind import call_at, calls_in, of_kind, scope_around
from xlamig.flow.model.file_writers import WRITES
from xlamig.flow.model.only_calls import arguments
from xlamig.flow.model.option_codes import option_of
from xlamig.flow.model.saved_paths import file_argument, file_name, only_value
from xlamig.flow.model.scopes import Scope, ScopeTable, path_of
from xlamig.flow.model.site import Analysis
from xlamig.knowledge import values as table

Item = TypeVar("Item")
HOST_DATA, ON_HOST = "host-data", "on-host"
PRETRAINED = re.compile(r"pre_?train|finetune", re.I)
_SAVES = "saves"  # the habit of a module, see engine.clues
_LOADER = "torch.load"
_SEARCHES = frozenset({"glob", "iglob"})
_DATASET = re.compile(r"Dataset$|^torchvision\.datasets\.")
_MAY_PLACE = re.compile(
    r"cuda|device|gpu|xla|\.to\((?!torch\.\w+\))|state_dict|(?:model|net|encoder)\w*\(", re.I
)


class OwnFiles:
    """Reads the paths of a module's `torch.save` and `torch.load`; `proofs` are the interpreter's."""

    def __init__(
        self,
        scopes: ScopeTable,
        analysis: Analysis,
        proofs: Mapping[Span, Mapping[str, str]],
        called_elsewhere: Collection[str] = (),
    ) -> None:
        self.scopes, self.analysis, self.proofs = scopes, analysis, proofs
        self.called_elsewhere = called_elsewhere
        self._module = analysis.module

    def proof(self, fact: Fact) -> Mapping[str, str]:
        """The proof "own-file" of a load: the same run has saved the file before, or all that the module
        saves there is data of the host; "saved-on-cpu" of a file that the user chooses where every save of
        the program writes copies on the CPU."""
        if not isinstance(fact, ApiUse) or fact.name != _LOADER or not self._may_be_own():
            return {}
        load = call_at(self._module, fact.span)
        path = file_argument(load, 0) if load is not None else None
        if load is None or path is None:
            return {}
        if self._same_run.writes(load, path):
            return {"own-file": "run"}
        saves = list(self._saves_of(load, path))
        if saves and all(map(self._holds_host_data, saves)):
            return {"own-file": "host"}
        is_copy = self._is_chosen(load, path) and self._saves_copies
        return {"saved-on-cpu": "yes"} if is_copy else {}

    def _may_be_own(self) -> bool:
        """Return whether the module saves, or the program has functions that do."""
        return "torch.save" in self.analysis.text or any(
            habit.startswith(f"{WRITES}|") for habit in self.analysis.elsewhere
        )

    @cached_property
    def _saves(self) -> Sequence[ir.Call]:
        names = table.names("collectives", "saves")
        return [
            call
            for call in of_kind(self._module, ir.Call)
            if len(call.args) > 1 and self.analysis.names.dotted(call.func, self._scope(call)) in names
        ]

    @cached_property
    def _same_run(self) -> SameRun:
        return SameRun(self.scopes, self.analysis, self._saves, self.called_elsewhere)

    # ------------------------------------------------------------------ what is saved

    @cached_property
    def _saves_copies(self) -> bool:
        """Return whether the program saves states, and all that it saves are copies on the CPU."""
        if _SAVES in self.analysis.elsewhere or not any(map(self._saves_state, self._saves)):
            return False
        proofs = (self.proofs.get((save.start, save.end), {}) for save in self._saves)
        return all(HOST_DATA in proven or ON_HOST in proven for proven in proofs)

    def _saves_state(self, save: ir.Call) -> bool:
        around = self._scope(save).node or self._module
        return "state_dict()" in self.analysis.source(around)

    def _is_chosen(self, load: ir.Call, path: ir.Expr) -> bool:
        """Return whether an option names the file that is loaded, or a search by a pattern finds it, and not
        one that others have trained."""
        bound = only_value(path, self._scope(load))
        value = path if bound is None or bound.value is None else bound.value
        is_option = isinstance(path, ir.Attribute | ir.Subscript) and option_of(path) != ""
        is_found = any(
            isinstance(part, ir.Call) and path_of(part.func).rpartition(".")[2] in _SEARCHES
            for part in ir.walk(value)
        )
        texts = f"{self._text(path)} {self._text(value)}"
        return (is_option or is_found) and not PRETRAINED.search(texts)

    def _holds_host_data(self, save: ir.Call) -> bool:
        """Return whether what is saved is proven to be on the host, or a dataset that places nothing keeps
        it."""
        if HOST_DATA in self.proofs.get((save.start, save.end), {}):
            return True
        owner = self._scope(save).class_scope
        if owner is None or not isinstance(owner.node, ir.ClassDef):
            return False
        bases = (
            self.analysis.names.dotted(a.value, owner.module) or path_of(a.value) for a in owner.node.args
        )
        is_dataset = any(_DATASET.search(base) for base in bases)
        return is_dataset and not _MAY_PLACE.search(self.analysis.source(owner.node))

    # ------------------------------------------------------------------ paths

    def _saves_of(self, load: ir.Call, path: ir.Expr) -> Iterator[ir.Call]:
        """Yield the saves that write the file that is loaded."""
        here = self._scope(load)
        if name := file_name(path, here):
            yield from self._saves_by_name.get(name, ())
        for save in self._saves_by_text.get(self._text(path), ()):
            there = self._scope(save)
            if here is there or (here.class_scope is there.class_scope and _is_of_self(path)):
                yield save
        yield from self._saves_given(here, path)

    def _saves_given(self, here: Scope, path: ir.Expr) -> Iterator[ir.Call]:
        """Yield the saves of functions that get the path from the one that loads: `make(ids, path)`."""
        loader = here.node
        if not isinstance(loader, ir.FunctionDef):
            return
        for call in calls_in(self._module, loader):
            for saver, save in self._savers.get(path_of(call.func).rpartition(".")[2], ()):
                written = file_argument(save, 1)
                if isinstance(written, ir.Name) and loader.start <= call.start:
                    given = arguments(call, saver).get(written.id)
                    if given is not None and self._text(given) == self._text(path):
                        yield save

    @cached_property
    def _saves_by_name(self) -> Mapping[str, Sequence[ir.Call]]:
        return _grouped(
            (file_name(written, self._scope(save)), save)
            for save in self._saves
            if (written := file_argument(save, 1)) is not None
        )

    @cached_property
    def _saves_by_text(self) -> Mapping[str, Sequence[ir.Call]]:
        return _grouped(
            (self._text(written), save)
            for save in self._saves
            if (written := file_argument(save, 1)) is not None
        )

    @cached_property
    def _savers(self) -> Mapping[str, Sequence[tuple[ir.FunctionDef, ir.Call]]]:
        """The functions that save, by name, each with its saves."""
        around = ((self._scope(save).node, save) for save in self._saves)
        return _grouped(
            (saver.name, (saver, save)) for saver, save in around if isinstance(saver, ir.FunctionDef)
        )

    def _text(self, node: ir.Expr) -> str:
        return self.analysis.in_one_line(node)

    def _scope(self, call: ir.Call) -> Scope:
        return scope_around(self._module, self.scopes, call)


def _grouped(items: Iterable[tuple[str, Item]]) -> Mapping[str, Sequence[Item]]:
    found: dict[str, list[Item]] = {}
    for key, item in items:
        found.setdefault(key, []).append(item)
    return found


def _is_of_self(node: ir.Expr) -> bool:
    """Return whether only attributes of `self` decide a path."""
    names = [part.id for part in ir.walk(node) if isinstance(part, ir.Name)]
    return "self" in names and all(name in ("self", "os", "Path", "str") for name in names)
