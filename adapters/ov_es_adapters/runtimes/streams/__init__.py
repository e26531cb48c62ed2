"""What the streams of agent programs prove, one reader for each dialect."""

from ov_es_adapters.runtimes.streams.parser import DIALECTS, StreamParser, parser_for

__all__ = ["DIALECTS", "StreamParser", "parser_for"]
