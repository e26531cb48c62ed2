"""Installs the agent programs that tests with real programs run, in their pinned versions."""

import argparse
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

NODE = "node@22"
"""claude's package wants at least this; an older one gets an older claude without a word."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program, and the package that brings it."""

    package: str
    version: str
    says_version: bool = True
    """Whether `--version` says its version; the ACP agents would begin to serve."""


PROGRAMS = {
    "claude": Program("@anthropic-ai/claude-code", "2.1.332"),
    "codex": Program("@openai/codex", "0.171.0"),
    "opencode": Program("opencode-ai", "1.18.33"),
    "codex-acp": Program("@agentclientprotocol/codex-acp", "2.6.0", says_version=False),
    "claude-agent-acp": Program(
        "@agentclientprotocol/claude-agent-acp", "0.101.0", says_version=False
    ),
}


def main() -> int:
    """Install what is asked for; return 1 where that didn't work."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PROGRAMS)}; all")
    parser.add_argument(
        "--folder",
        type=Path,
        default=user_cache_path("ov-es") / "agent-clis",
        help="where they go (%(default)s)",
    )
    options = parser.parse_args()
    names: list[str] = options.names or list(PROGRAMS)
    if unknown := [name for name in names if name not in PROGRAMS]:
        parser.error(f"{', '.join(unknown)}: there are {', '.join(PROGRAMS)}")
    folder: Path = options.folder.absolute()
    npm = shutil.which("npm")
    if npm is None:
        print("npm isn't on PATH. Install Node.js with npm, for example: apt-get install npm")
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    packages = [f"{PROGRAMS[name].package}@{PROGRAMS[name].version}" for name in names]
    environment = _environment(folder)
    # Node comes first and alone, since the other packages are chosen by the Node that npm runs on.
    for wanted in ([NODE], packages):
        if not _installs(npm, folder, wanted, environment):
            print("npm failed; what it said stands above.")
            return 1
    print()
    right = [_is_right(name, folder, environment) for name in names]
    print(f"\nexport PATH={folder_of_node(folder)}:{folder_of_programs(folder)}:$PATH")
    return 0 if all(right) else 1


def folder_of_node(folder: Path) -> Path:
    """Return where Node itself is."""
    return folder / "node_modules" / "node" / "bin"


def folder_of_programs(folder: Path) -> Path:
    """Return where the programs are."""
    return folder / "node_modules" / ".bin"


def _environment(folder: Path) -> dict[str, str]:
    path = (str(folder_of_node(folder)), str(folder_of_programs(folder)), os.environ["PATH"])
    return {**os.environ, "PATH": os.pathsep.join(path)}


def _installs(npm: str, folder: Path, packages: list[str], environment: dict[str, str]) -> bool:
    print(f"-- into {folder}: {' '.join(packages)}", flush=True)
    options = ("--no-audit", "--no-fund", "--ignore-scripts=false", "--prefix", str(folder))
    command = [npm, "install", *options, *packages]
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode == 0  # noqa: S603 - the table above


def _is_right(name: str, folder: Path, environment: dict[str, str]) -> bool:
    """Say which version a program has, and whether it's the one that was wanted."""
    program = PROGRAMS[name]
    path = folder_of_programs(folder) / name
    if not path.exists():
        print(f"{name}: {path} isn't there")
        return False
    if program.says_version:
        command = [str(path), "--version"]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - the table above
        said = (ran.stdout or ran.stderr).strip()
    else:
        about = folder / "node_modules" / program.package / "package.json"
        said = str(json.loads(about.read_text(encoding="utf-8"))["version"])
    is_right = program.version in said
    print(f"{name}: {said}" if is_right else f"{name}: {said}, but {program.version} was wanted")
    return is_right


if __name__ == "__main__":
    sys.exit(main())
