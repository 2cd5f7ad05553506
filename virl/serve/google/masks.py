"""Field masks: the fields of an answer that a client asks for."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from virl.serve.google.wire import invalid
from virl.settings.model import Settings, load_settings


class Fields(Settings):
    """Fields that a client may ask for."""

    place_without_answer: frozenset[str]
    legacy_place: frozenset[str]
    routes: frozenset[str]
    element: frozenset[str]


FIELDS = load_settings(Path(__file__).with_name("fields.yaml"), Fields)


MaskTree = dict[str, "MaskTree"]
"""Wanted fields, and of each the wanted fields below it; none below means all."""

REQUIRED = (
    "FieldMask is a required parameter. See https://cloud.google.com/apis/docs/system-parameters on how to "
    "provide it. As an example, you can set the header 'X-Goog-FieldMask' with value "
    "'places.displayName,places.id' to ask for the display name and id of places."
)


def parse_mask(text: str, known: Collection[str], below: str = "") -> MaskTree:
    """Parse the tree of a mask such as `places.id,places.displayName`; `*` stands for all that is known.

    Args:
        text: paths with commas between them.
        known: names of fields that may be asked for.
        below: the field that holds those; other names then stand beside it.

    Raises:
        Refused: the mask is empty, holds a space, or names a field that is not known.
    """
    if not text:
        raise invalid(REQUIRED)
    tree: MaskTree = {}
    for path in text.split(","):
        names = path.split(".")
        if path != "*" and not _is_known(names, known, below):
            raise invalid(
                "Request contains an invalid argument. Error expanding 'fields' parameter. "
                f"Cannot find matching fields for path '{path}'."
            )
        _grow(tree, names)
    if "*" in tree:
        return (
            {below: dict.fromkeys(known, _whole_tree()), "nextPageToken": {}}
            if below
            else dict.fromkeys(known, _whole_tree())
        )
    if below in tree and (not tree[below] or "*" in tree[below]):
        tree[below] = dict.fromkeys(known, _whole_tree())
    return tree


def apply_mask(value: Any, tree: MaskTree) -> Any:
    """Return the part of an answer that a mask asks for."""
    if not tree:
        return value
    if isinstance(value, list):
        return [apply_mask(item, tree) for item in value]
    if isinstance(value, dict):
        return {name: apply_mask(field, tree[name]) for name, field in value.items() if name in tree}
    return value


def _whole_tree() -> MaskTree:
    """Return the mask of all fields."""
    return {}


def _grow(tree: MaskTree, names: list[str]) -> None:
    """Add a path; a field asked for whole stays whole."""
    for index, name in enumerate(names):
        is_new = name not in tree
        branch = tree.setdefault(name, {})
        if index == len(names) - 1:
            branch.clear()
        elif not is_new and not branch:
            return
        tree = branch


def _is_known(names: list[str], known: Collection[str], below: str) -> bool:
    """Return whether a path of a mask names known fields, `below` a list's name if there is one."""
    if not below:
        return names[0] in known
    if names[0] != below:
        return names == ["nextPageToken"]
    return len(names) == 1 or names[1] == "*" or names[1] in known
