"""Whether a planner says what to count, seen before a run begins."""

from virl.agent.assembly import Assembly
from virl.routines.counting.checking import check_count


def check_assembly(assembly: Assembly) -> None:
    """See that the character says what to count.

    Raises:
        BadInput: it does not.
    """
    check_count(assembly)
