"""Whether a character says where to count, seen before a run begins."""

from virl.agent.assembly import Assembly
from virl.agent.character_file import where
from virl.errors import BadInput
from virl.routines.counting.settings import COUNT


def check_assembly(assembly: Assembly) -> None:
    """See that the character says what to count, and where to go, once.

    Raises:
        BadInput: it says nothing, or two things.
    """
    character, source = assembly.character, assembly.source
    if character.region is not None and character.route:
        raise BadInput(f"{where(source, character, 'region')}: there is a `route:` too: remove one of them")
    if character.region is None and not character.route:
        raise BadInput(f"{source}: `route:` is missing: list the addresses or positions to visit, in order")
    check_count(assembly)


def check_count(assembly: Assembly) -> None:
    """See that the character says what to count.

    Raises:
        BadInput: it does not.
    """
    if COUNT.of(assembly.character) is None:
        raise BadInput(f"{assembly.source}: `count:` is missing: list the things to count")
