"""A check of the keyword arguments that a typed dict describes."""

from collections.abc import Iterable

from virl.errors import did_you_mean


def check_keywords(function: str, given: Iterable[str], known: type) -> None:
    """Refuse keyword arguments that a function does not take.

    Args:
        function: its name, for the error.
        given: names of the arguments.
        known: typed dict of those that it takes.

    Raises:
        TypeError: there is no such argument; names the one that resembles it.
    """
    names = list(known.__annotations__)
    for name in given:
        if name not in names:
            raise TypeError(
                f"{function}() got an unexpected keyword argument {name!r}{did_you_mean(name, names)}"
            )
