"""Find the files of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from xlamig.config.errors import ConfigError
from xlamig.config.load import Resolver
from xlamig.engine.options import Options, UsageError
from xlamig.source.files import Discovery, SourceFile, discover


def files_of(paths: Sequence[Path], options: Options) -> Discovery:
    """Return the files below `paths`.

    Raises:
        UsageError: for missing paths and broken configuration.
    """
    try:
        resolver = Resolver(options.overrides, options.config, options.isolated)
        if options.stdin is not None:
            name, data = options.stdin
            path = Path(name).absolute()
            file = SourceFile(path, name, resolver.settings_for(path), len(data))
            return Discovery((file,), (), ())
        found = discover(paths, resolver.settings_for)
    except ConfigError as error:
        raise UsageError(str(error)) from None
    if found.missing:
        raise UsageError(f"no such file or folder: {', '.join(found.missing)}")
    return found
