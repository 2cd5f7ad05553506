"""Labels as an open-vocabulary detector is asked for them."""

from collections.abc import Sequence

from virl.errors import BadInput
from virl.platform.perception.base import plain_label


def words_of(labels: Sequence[str], model: str, separators: str = "") -> dict[str, str]:
    """Return the words of each label, as the model reads them, mapped to the label as it was asked for.

    Words are in lower case, with spaces for underscores. Of labels with the same words the first one counts.

    Args:
        labels: what to look for, such as `"trash bin"` or `"jewelry_store"`.
        model: named in errors.
        separators: characters that the model would take for the end of a label.

    Raises:
        BadInput: there are no labels, or one is empty or holds a separator.
    """
    if not labels:
        raise BadInput(f"{model} finds only the labels it is given: give one or more")
    words: dict[str, str] = {}
    for label in labels:
        if found := [mark for mark in separators if mark in label]:
            raise BadInput(f"label {label!r}: {model} reads {found[0]!r} as the end of a label: remove it")
        plain = plain_label(label)
        if not plain:
            raise BadInput(f"label {label!r} is empty: {model} needs a word for what it looks for")
        words.setdefault(plain, label)
    return words


def check_prompt(prompt: str) -> str:
    """Return the prompt itself, if it has a place for the label.

    Raises:
        ValueError: it has none.
    """
    if "{label}" not in prompt:
        raise ValueError("must contain {label}, where the label goes")
    return prompt
