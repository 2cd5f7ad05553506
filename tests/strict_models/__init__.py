"""The APIs of four providers of language models, as strict as the real ones are known to be.

    with ModelServer("anthropic", [says("Hello.")]) as server:
        model = open_mind("anthropic:claude-haiku-4-5", cache_dir=None, base_url=server.url)

A request that the real API would refuse gets the refusal of that API, with what is wrong; all of them are
kept in `server.refusals`. No hosted model is asked, so the rules are those of the providers' documentation.
"""

from strict_models.answers import Raw, Said, calls, fault, raw, says
from strict_models.server import ModelServer, Request

__all__ = ["ModelServer", "Raw", "Request", "Said", "calls", "fault", "raw", "says"]
