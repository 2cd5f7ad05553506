"""The text of `platform/words/sign-words.yaml`."""

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChosenWord:
    """A word that was chosen."""

    place_type: str
    language: str
    word: str
    is_name: bool


def as_yaml(found: list[ChosenWord], compounding: Iterable[str], version: str, licence: str) -> str:
    """The text of the file of words.

    Args:
        found: the words.
        compounding: languages that write words together.
        version: of the package.
        licence: of the package, in full.
    """
    grouped: dict[str, dict[str, dict[str, list[str]]]] = {}
    for one in found:
        groups = grouped.setdefault(one.place_type, {"names": {}, "hints": {}})
        groups["names" if one.is_name else "hints"].setdefault(one.language, []).append(one.word)
    lines = [
        *_comment(
            "Words on signs in many languages, a supplement to place-types.yaml. Made by "
            "virl/datasets/sign_words.py, so do not edit it: write words in place-types.yaml, which wins."
        ),
        "#",
        *_comment(
            "Source: names and search terms of the presets of @openstreetmap/id-tagging-schema "
            f"{version} (npm), with their translations. Its licence:"
        ),
        "#",
        *(f"# {line}".rstrip() for line in licence.strip().splitlines()),
        f"compounding: [{', '.join(compounding)}]",
        "types:",
    ]
    for kind, groups in sorted(grouped.items()):
        lines.append(f"  {kind}:")
        for group, languages in groups.items():
            lines += [f"    {group}:"] if languages else []
            for language, words in sorted(languages.items()):
                lines += _wrapped(f"{language}: {', '.join(words)}", "      ", "        ")
    return "\n".join(lines) + "\n"


def _comment(text: str) -> list[str]:
    return _wrapped(text, "# ", "# ")


def _wrapped(text: str, first: str, later: str) -> list[str]:
    return textwrap.wrap(
        text,
        110,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )
