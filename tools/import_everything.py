"""Imports every module of the installed packages, to find what a wheel lacks.

Modules of PostgreSQL are left out where its driver isn't installed: it's an extra.
"""

from importlib import import_module
from importlib.util import find_spec
from pkgutil import walk_packages

ROOMS = ("ov_es_domain", "ov_es_projections", "ov_es_adapters")


def main() -> None:
    """Import all of them; the first that can't be imported ends it."""
    has_postgres = find_spec("psycopg") is not None
    count = 0
    for room in ROOMS:
        package = import_module(room)
        for module in walk_packages(package.__path__, f"{room}."):
            if "postgres" not in module.name or has_postgres:
                import_module(module.name)
                count += 1
    print(f"{count} modules can be imported")


if __name__ == "__main__":
    main()
