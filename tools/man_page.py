"""Writes the manual page of the command to stdout, from what `--help` says.

python tools/man_page.py > xlamig.1
"""

from __future__ import annotations

from collections.abc import Iterator

import click

from xlamig import __version__
from xlamig.cli import xlamig


def page() -> Iterator[str]:
    context = click.Context(xlamig, info_name="xlamig")
    yield f'.TH XLAMIG 1 "" "xlamig {__version__}" "User Commands"'
    yield from (".SH NAME", r"xlamig \- find and fix what stands between PyTorch GPU code and a TPU")
    yield from (".SH SYNOPSIS", r".B xlamig", r"\fICOMMAND\fR [\fIOPTIONS\fR] [\fIARGUMENTS\fR]")
    yield from (".SH DESCRIPTION", *_paragraphs(xlamig.help or ""))
    yield ".SH COMMANDS"
    yield from _commands(xlamig, context)
    yield from (
        ".SH EXIT STATUS",
        *_paragraphs("0: nothing found. 1: findings. 2: wrong usage or a failure."),
    )


def _commands(group: click.Group, context: click.Context) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        inner = click.Context(command, info_name=name, parent=context)
        usage = " ".join(command.collect_usage_pieces(inner))
        yield f".SS {_escaped(inner.command_path)} {_escaped(usage)}"
        yield from _paragraphs(command.help or "")
        yield from _options(command, inner)
        if isinstance(command, click.Group):
            yield from _commands(command, inner)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[1]:
            yield from (".TP", rf"\fB{_escaped(record[0])}\fR", _escaped(record[1]))


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        yield ".PP"
        yield _escaped(" ".join(paragraph.split()))


def _escaped(text: str) -> str:
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{text}" if text.startswith((".", "'")) else text


if __name__ == "__main__":
    print("\n".join(page()))
