"""What a wish means to the rules: the kinds of place that serve it, and those its conditions rule out."""

from collections.abc import Iterator, Sequence
from functools import cache

from virl import resources
from virl.mind.kinds import kinds_wanted
from virl.mind.lexicon import Lexicon, found_in
from virl.settings import Settings, load_settings


class NeedPhrases(Settings):
    """Phrases that speak of a need, and the place types that serve it, the best first."""

    phrases: tuple[str, ...]
    kinds: tuple[str, ...]


class ConditionPhrases(Settings):
    """Phrases that speak of a condition, and the place types that do not serve a wish under it."""

    about: str
    """The condition in a few words."""
    phrases: tuple[str, ...]
    refuses: frozenset[str]


class WishPhrases(Settings):
    """`platform/rules/sight.yaml`."""

    needs: tuple[NeedPhrases, ...]
    conditions: tuple[ConditionPhrases, ...]


def kinds_that_serve(wish: str, offered: Sequence[str], lexicon: Lexicon) -> list[str]:
    """The place types that serve a wish, the best first; empty if the rules see none.

    Args:
        wish: in English.
        offered: types to choose from.
        lexicon: what words say of kinds of place.
    """
    phrases = load_wish_phrases()
    refused = {kind for one in phrases.conditions if found_in(wish, one.phrases) for kind in one.refuses}
    kinds = dict.fromkeys(_served(wish, tuple(offered), lexicon, phrases))
    return [kind for kind in kinds if kind in offered and kind not in refused]


def explained(wish: str, lexicon: Lexicon) -> str:
    """What the rules leave out under the conditions of a wish, in a sentence; empty if it has none.

    Args:
        wish: in English.
        lexicon: knows the types that the wish would mean without its conditions.
    """
    phrases = load_wish_phrases()
    served = set(_served(wish, tuple(lexicon.kinds), lexicon, phrases))
    parts = []
    for one in phrases.conditions:
        if not found_in(wish, one.phrases):
            continue
        out = sorted(kind.replace("_", " ") for kind in one.refuses & served)
        parts.append(f"{one.about}, which leaves out {', '.join(out)}" if out else one.about)
    return f"Conditions: {'; '.join(parts)}." if parts else ""


def _served(wish: str, offered: tuple[str, ...], lexicon: Lexicon, phrases: WishPhrases) -> Iterator[str]:
    for need in phrases.needs:
        if found_in(wish, need.phrases):
            yield from need.kinds
    yield from kinds_wanted(wish, offered, lexicon)


@cache
def load_wish_phrases() -> WishPhrases:
    """The phrases that come with virl.

    Raises:
        BadInput: the file is broken; names file, line and field.
    """
    return load_settings(resources.data_folder("platform/rules") / "sight.yaml", WishPhrases)
