"""Find what blocks most repositories, and what one fix in a shared package would unblock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xlamig.fleet.query import Fleet

_MOST = 20

_RULES = """
SELECT code, any_value(name) AS name, count(DISTINCT repository) AS repositories, sum(sites)::BIGINT AS sites,
  sum(likely_hours) AS hours, sum(after_fix_hours) AS after_fix
FROM plans WHERE code <> '' GROUP BY code ORDER BY repositories DESC, hours DESC, code LIMIT ?
"""
_OPERATORS = """
SELECT subject, code, count(DISTINCT repository) AS repositories, count(*) AS places
FROM findings WHERE code LIKE 'XLA5%' AND subject <> '' AND severity <> 'info'
GROUP BY subject, code ORDER BY repositories DESC, places DESC, subject LIMIT ?
"""
_PACKAGES = """
SELECT package, string_agg(DISTINCT code, ',' ORDER BY code) AS code,
  count(DISTINCT repository) AS repositories, sum(hours_saved) AS hours,
  count(*) FILTER (p.verdict_without <> r.verdict) AS better
FROM packages p JOIN repositories r ON r.name = p.repository
WHERE via = 'rule' GROUP BY package ORDER BY repositories DESC, hours DESC, package LIMIT ?
"""
_KERNELS = """
SELECT kernel, any_value(kind) AS kind, count(DISTINCT repository) AS repositories, count(*) AS copies,
  sum(lines)::BIGINT AS lines
FROM kernels GROUP BY kernel ORDER BY repositories DESC, lines DESC, kernel LIMIT ?
"""
# By the names of distributions: modules called "utils" or "datasets" would tie everything together.
_SHARED = """
WITH own AS (SELECT package, any_value(repository) AS provider FROM packages WHERE via = 'own'
             GROUP BY package HAVING count(DISTINCT repository) = 1)
SELECT own.provider, string_agg(DISTINCT own.package, ', ' ORDER BY own.package) AS packages,
  any_value(r.verdict) AS verdict, any_value(r.likely_hours) AS hours,
  list(DISTINCT used.repository ORDER BY used.repository) AS users
FROM own JOIN packages used ON used.package = own.package AND used.repository <> own.provider
JOIN repositories r ON r.name = own.provider
WHERE used.via = 'requirement' AND r.verdict <> 'nothing'
GROUP BY own.provider ORDER BY len(users) DESC, own.provider LIMIT ?
"""
_ALL = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Blockers:
    """Each entry has the columns of its query; `shared` are repositories that others require, with their
    `users`."""

    rules: list[dict[str, Any]]
    operators: list[dict[str, Any]]
    packages: list[dict[str, Any]]
    kernels: list[dict[str, Any]]
    shared: list[dict[str, Any]]


def blockers(fleet: Fleet) -> Blockers:
    """The first twenty of each kind."""
    queries = (_RULES, _OPERATORS, _PACKAGES, _KERNELS, _SHARED)
    return Blockers(*(fleet.records(query, _MOST) for query in queries))


def providers(fleet: Fleet) -> dict[str, list[str]]:
    """By repository, those of the fleet that it requires."""
    found: dict[str, list[str]] = {}
    for record in fleet.records(_SHARED, _ALL):
        for user in record["users"]:
            found.setdefault(user, []).append(record["provider"])
    return {user: sorted(needed) for user, needed in found.items()}
