"""What the domain exports exists, and is found without loading what nobody asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

import ov_es_domain

DOMAIN = Path(__file__).resolve().parents[2] / "domain"


@pytest.mark.parametrize("name", ov_es_domain.__all__)
def test_an_exported_name_is_there(name: str) -> None:
    assert getattr(ov_es_domain, name) is not None


def test_a_name_that_is_not_exported_is_not_there() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        _ = ov_es_domain.Nonsense


def test_the_registers_are_full_whatever_was_loaded_before() -> None:
    code = "from ov_es_domain import COMMANDS, EVENTS; print(len(EVENTS), len(COMMANDS))"

    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=DOMAIN, capture_output=True, text=True, check=True
    )

    assert ran.stdout.split() == [str(len(ov_es_domain.EVENTS)), str(len(ov_es_domain.COMMANDS))]


def test_a_light_name_loads_no_machine() -> None:
    code = (
        "import sys; from ov_es_domain import parse_key; sys.exit('statemachine' in sys.modules)"
    )

    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=DOMAIN, capture_output=True, text=True, check=False
    )

    assert (ran.returncode, ran.stderr) == (0, "")
