"""Runs every check that CI runs, one after the other, and says which ones failed."""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("domain", "projections", "adapters")
CHECKS: dict[str, tuple[str, ...]] = {
    "format": ("ruff", "format", "--check", "."),
    "lint": ("ruff", "check", "."),
    "types (mypy)": ("mypy",),
    "types of the tools": ("mypy", *(str(path) for path in sorted(ROOT.glob("tools/*.py")))),
    "types (pyright)": ("pyright", "--pythonpath", sys.executable),
    "import contracts": ("lint-imports", "--no-cache"),
    "spelling": ("codespell", *ROOMS, "docs", "tools", "tests", "README.md", "CONTRIBUTING.md"),
    "generated pages": (sys.executable, "tools/write_reference.py", "--check"),
    "documentation": ("sphinx-build", "-q", "-E", "-W", "--keep-going", "docs", "docs/_build"),
}


def main() -> int:
    """Run the checks; return 1 when one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without-tests", action="store_true", help="leave pytest out")
    parser.add_argument("--only", choices=sorted(CHECKS), help="run one check alone")
    options = parser.parse_args()
    checks = dict(CHECKS)
    if not options.without_tests:
        checks["tests"] = (sys.executable, "-m", "pytest", "-q")
    if options.only:
        checks = {options.only: CHECKS[options.only]}
    failed = [name for name, command in checks.items() if not _passes(name, command)]
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return 1 if failed else 0


def _passes(name: str, command: tuple[str, ...]) -> bool:
    program = Path(sys.executable).parent / command[0]
    argv = [str(program) if program.exists() else command[0], *command[1:]]
    print(f"-- {name}: {' '.join(command)}", flush=True)
    return subprocess.run(argv, cwd=ROOT, check=False).returncode == 0  # noqa: S603 - the table above


if __name__ == "__main__":
    sys.exit(main())
