"""Which model a name means, where a benchmark takes models of several roles."""

from virl.errors import UnknownName
from virl.platform.perception.models import read_model
from virl.platform.perception.registry import Role


def is_model(role: Role, name: str) -> bool:
    """Return whether a name in `platform/models`, or a path to a model file, is that of a model of this role.

    Raises:
        BadInput: its file does not hold what it should.
    """
    try:
        read_model(role, name)
    except UnknownName:
        return False
    return True
