"""What tests of gated runs share with those of the runs themselves."""

from tests.adapters.runtimes.conftest import marker

__all__ = ["marker"]
