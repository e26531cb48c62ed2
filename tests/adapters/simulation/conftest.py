"""What tests of the simulator share with those of the rules: what programs are asked to do."""

from tests.rules.conftest import requests

__all__ = ["requests"]
