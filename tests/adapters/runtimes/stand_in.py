"""A program in place of a real one: it keeps what it was given, and prints what it's told to."""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ov_es_adapters.runtimes.installed_program import InstalledProgram
from ov_es_adapters.runtimes.run_environment import inherited

_SOURCE = """#!{python}
import json, os, sys
told = {{"argv": sys.argv[1:], "stdin": sys.stdin.read(), "directory": os.getcwd(),
        "environment": dict(os.environ)}}
open({told!r}, "w").write(json.dumps(told))
print({printed!r}, end="")
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a program was given."""

    argv: list[str]
    stdin: str
    directory: str
    environment: dict[str, str]


def stand_in(
    folder: Path, name: str, prints: Sequence[Mapping[str, object]]
) -> tuple[InstalledProgram, Callable[[], Told]]:
    """Return the program, and what tells what it was given last."""
    told, path = folder / "told.json", folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    printed = "".join(json.dumps(each) + "\n" for each in prints)
    path.write_text(
        _SOURCE.format(python=sys.executable, told=str(told), printed=printed), encoding="utf-8"
    )
    path.chmod(0o700)
    before = inherited(os.environ)
    environment = {**before, "PATH": f"{path.parent}{os.pathsep}{before['PATH']}"}
    program = InstalledProgram(name=name, title=name, environment=environment)
    return program, lambda: Told(**json.loads(told.read_text(encoding="utf-8")))
