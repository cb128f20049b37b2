"""The positions that functions pass on: `super().__init__(*args)`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from xlamig.flow.model.closure import closure
from xlamig.flow.model.given_calls import MOST_STARRED, PASSED_ON, Calls, Parameter
from xlamig.flow.model.option_codes import ANY, STAR, Codes, parameter_key

_END = parameter_key("", STAR)


class Forwarded:
    """Tells whether functions are called with more positions than they have parameters for: `calls_of` are
    the calls of a function, none if they are not known."""

    def __init__(
        self, calls_of: Callable[[str], Collection[Calls]], parameters: Mapping[str, Iterable[Parameter]]
    ) -> None:
        self._calls_of = calls_of
        self._parameters = parameters
        self._known: dict[str, bool] = {}

    def settle(self, calls: Calls) -> Calls:
        """Return calls with what the functions pass on in their places, which may be nothing."""
        if not any(PASSED_ON in keywords for _, keywords in calls.filled):
            return calls
        positional = list(map(self._given, calls.positional))
        while positional and not positional[-1]:
            positional.pop()
        filled = {
            (
                count + MOST_STARRED * (PASSED_ON in keywords and self._is_filled(calls.positional, count)),
                keywords - {PASSED_ON},
            )
            for count, keywords in calls.filled
        }
        return Calls(tuple(positional), calls.keywords, frozenset(filled))

    def _given(self, codes: Codes) -> Codes:
        """Return codes, with those of any value for what is passed on."""
        passed = [code for code in codes if code.endswith(_END)]
        return codes.difference(passed) | (ANY if any(map(self._passes, passed)) else frozenset())

    def _is_filled(self, positional: tuple[Codes, ...], position: int) -> bool:
        return any(self._passes(code) for code in positional[position] if code.endswith(_END))

    def _passes(self, code: str) -> bool:
        """Return whether any call may give further positions to a function, or to one that passes them on
        to it."""
        function = code.removesuffix(_END)
        if function not in self._known:
            self._known[function] = any(map(self._gets, closure([function], self._sources)))
        return self._known[function]

    def _gets(self, function: str) -> bool:
        """Return whether a call that is known gives further positions to a function, or none is known."""
        further = self._further(function)
        return not self._calls_of(function) or any(not code.endswith(_END) for code in further)

    def _sources(self, function: str) -> set[str]:
        return {code.removesuffix(_END) for code in self._further(function) if code.endswith(_END)}

    def _further(self, function: str) -> Codes:
        """Return the codes of what calls give a function after its own parameters."""
        most = max((one.position for one in self._parameters.get(function, ())), default=-1) + 1
        calls = self._calls_of(function)
        return frozenset[str]().union(*(codes for one in calls for codes in one.positional[most:]))
