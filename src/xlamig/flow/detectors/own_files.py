"""Find the files that a module loads and has written itself: in the same run, or with data of the host."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from xlamig import ir
from xlamig.facts import ApiUse, Fact, Span
from xlamig.flow.detectors.same_run import SameRun
from xlamig.flow.model.by_kind import call_at, of_kind, scope_around
from xlamig.flow.model.file_writers import WRITES
from xlamig.flow.model.only_calls import arguments
from xlamig.flow.model.option_codes import option_of
from xlamig.flow.model.saved_paths import file_argument, file_name, only_value
from xlamig.flow.model.scopes import Scope, ScopeTable, path_of
from xlamig.flow.model.site import Analysis
from xlamig.knowledge import values as table

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
        every = list(self._saves())
        if SameRun(self.scopes, self.analysis, every, self.called_elsewhere).writes(load, path):
            return {"own-file": "run"}
        saves = [save for save in every if self._is_same(load, path, save)]
        if saves and all(map(self._holds_host_data, saves)):
            return {"own-file": "host"}
        return {"saved-on-cpu": "yes"} if self._is_chosen(load, path) and self._saves_copies(every) else {}

    def _may_be_own(self) -> bool:
        """Return whether the module saves, or the program has functions that do."""
        return "torch.save" in self.analysis.text or any(
            habit.startswith(f"{WRITES}|") for habit in self.analysis.elsewhere
        )

    def _saves(self) -> Iterator[ir.Call]:
        names = table.names("collectives", "saves")
        for call in of_kind(self._module, ir.Call):
            if len(call.args) > 1 and self.analysis.names.dotted(call.func, self._scope(call)) in names:
                yield call

    # ------------------------------------------------------------------ what is saved

    def _saves_copies(self, saves: Sequence[ir.Call]) -> bool:
        """Return whether the program saves states, and all that it saves are copies on the CPU."""
        if _SAVES in self.analysis.elsewhere or not any(map(self._saves_state, saves)):
            return False
        proofs = (self.proofs.get((save.start, save.end), {}) for save in saves)
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

    def _is_same(self, load: ir.Call, path: ir.Expr, save: ir.Call) -> bool:
        """Return whether a save writes the file that is loaded."""
        written = file_argument(save, 1)
        here, there = self._scope(load), self._scope(save)
        if written is None:
            return False
        name = file_name(path, here)
        if name and name == file_name(written, there):
            return True
        same = self._text(path) == self._text(written)
        if same and (here is there or (here.class_scope is there.class_scope and _is_of_self(path))):
            return True
        return self._is_passed(here, path, there, written)

    def _is_passed(self, here: Scope, path: ir.Expr, there: Scope, written: ir.Expr) -> bool:
        """Return whether the function that loads gives the path to the one that saves: `make(ids, path)`."""
        saver, loader = there.node, here.node
        if not isinstance(written, ir.Name) or not isinstance(saver, ir.FunctionDef) or loader is None:
            return False
        for call in of_kind(self._module, ir.Call):
            inside = loader.start <= call.start < loader.end
            if inside and path_of(call.func).rpartition(".")[2] == saver.name:
                given = arguments(call, saver).get(written.id)
                if given is not None and self._text(given) == self._text(path):
                    return True
        return False

    def _text(self, node: ir.Expr) -> str:
        return self.analysis.in_one_line(node)

    def _scope(self, call: ir.Call) -> Scope:
        return scope_around(self._module, self.scopes, call)


def _is_of_self(node: ir.Expr) -> bool:
    """Return whether only attributes of `self` decide a path."""
    names = [part.id for part in ir.walk(node) if isinstance(part, ir.Name)]
    return "self" in names and all(name in ("self", "os", "Path", "str") for name in names)
