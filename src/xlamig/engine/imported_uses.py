"""The names that the programs a file is part of use: those of the modules that their scripts import."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from xlamig.flow import ProjectIndex

Names = frozenset[str]


class ImportedUses:
    """Answers which names the programs with a module use. `names` are those that each module uses, `scripts`
    the modules that are run, of which `trainers` train; `searching` ones import by names which they
    compute."""

    def __init__(
        self,
        index: ProjectIndex,
        names: Mapping[str, Names],
        scripts: Collection[str],
        trainers: Collection[str],
        searching: Collection[str],
    ) -> None:
        self._index = index
        self._names = names
        self._scripts = scripts
        self._trainers = trainers
        self._searching = searching
        self._found: dict[str, Names | None] = {}  # by script

    def of(self, module: str) -> Names | None:
        """Return the names that the programs with a module use; None where that is not known, as no script
        is known to import it, or scripts compute the names of modules."""
        found = [self._of_script(script) for script in self._programs(module)]
        if not found or None in found:
            return None
        return frozenset[str]().union(*filter(None, found))

    def _programs(self, module: str) -> Collection[str]:
        """Return the scripts that run a module: itself, if it trains and none but its package hands it on."""
        if module in self._scripts:
            importers = self._index.importers.get(module, set()) - {module}
            alone = all(module.startswith(f"{importer}.") for importer in importers)
            if not importers or (alone and module in self._trainers):
                return (module,)
        return sorted(self._index.importers_of(module) & frozenset(self._scripts))

    def _of_script(self, script: str) -> Names | None:
        if script not in self._found:
            modules = self._index.imported_by(script)
            sure = modules.isdisjoint(self._searching) and not any(map(self._index.misses_module, modules))
            used = (self._names.get(module, frozenset()) for module in modules)
            self._found[script] = frozenset[str]().union(*used) if sure else None
        return self._found[script]
