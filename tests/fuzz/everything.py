"""All kinds of inputs, and how a number of inputs is shared among them."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from fuzz.kinds.extracts import extract_kinds
from fuzz.kinds.files import file_kinds
from fuzz.kinds.google import google_kinds
from fuzz.kinds.hostile import hostile_kinds
from fuzz.kinds.journals import journal_kinds
from fuzz.kinds.models import model_http_kinds, model_kinds
from fuzz.kinds.rentcast import rentcast_kinds
from fuzz.kinds.server import server_kinds
from fuzz.kinds.yaml import yaml_kinds
from fuzz.session import Kind

Opened = AbstractContextManager[list[Kind]]
GROUPS: tuple[tuple[Callable[[Path], Opened], tuple[str, ...]], ...] = (
    (yaml_kinds, ("yaml", "prompt", "set", "feedback")),
    (google_kinds, ("google",)),
    (rentcast_kinds, ("rentcast",)),
    (lambda _: model_http_kinds(), ("model-http",)),
    (lambda _: model_kinds(), ("reply", "text", "model-message")),
    (lambda _: server_kinds(), ("server",)),
    (
        file_kinds,
        (
            *("graph", "region", "landmarks", "navgpt", "survey", "features", "collected", "book"),
            *("recording", "cache", "checksums", "export"),
        ),
    ),
    (extract_kinds, ("extract",)),
    (journal_kinds, ("journal", "bench", "narrate")),
    (hostile_kinds, ("hostile",)),
)
"""What opens a group of kinds, and how their names begin: a group of which none is asked is not opened."""


@contextmanager
def all_kinds(prefix: str = "") -> Iterator[list[Kind]]:
    """The kinds whose names begin with a prefix; their servers run until the context ends."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        found: list[Kind] = []
        for number, (open_group, names) in enumerate(GROUPS):
            if any(name.startswith(prefix) or prefix.startswith(name) for name in names):
                folder = home / str(number)
                folder.mkdir()
                found += stack.enter_context(open_group(folder))
        yield [kind for kind in found if kind.name.startswith(prefix)]


def shares(kinds: Sequence[Kind], inputs: int) -> Iterator[tuple[Kind, int]]:
    """Each kind with its share of the inputs, by weight; at least one each, in all no fewer than asked."""
    total = sum(kind.weight for kind in kinds)
    for kind in kinds:
        yield kind, max(1, -(-inputs * kind.weight // total))
