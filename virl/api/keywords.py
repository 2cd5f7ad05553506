"""A check of the keyword arguments that a typed dict describes."""

from collections.abc import Callable, Iterable
from inspect import Parameter, signature

from virl.errors import did_you_mean


def check_keywords(function: Callable[..., object], given: Iterable[str], known: type) -> None:
    """Refuse keyword arguments that a function does not take.

    Args:
        function: takes them; its own keywords are suggested, too.
        given: names of the arguments.
        known: typed dict of those that it takes beside its own.

    Raises:
        TypeError: there is no such argument; names the one that resembles it.
    """
    parameters = signature(function).parameters.values()
    names = [one.name for one in parameters if one.kind is Parameter.KEYWORD_ONLY] + [*known.__annotations__]
    for name in given:
        if name not in names:
            near = did_you_mean(name, names)
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}{near}")
