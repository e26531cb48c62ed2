"""MEM: whose memory it is; what it holds is shown with its projection and with the prompts."""

from pathlib import Path

from ov_es_adapters.cli.main import GlobalOptions
from ov_es_adapters.cli.watch import store_url


def test_mem_7_each_agent_has_a_log_and_so_a_memory_of_its_own(tmp_path: Path) -> None:
    options = GlobalOptions(home=None, store=None, verbosity=0)

    ada, bob = (store_url(options, tmp_path, agent) for agent in ("ada", "bob"))

    assert ada != bob
