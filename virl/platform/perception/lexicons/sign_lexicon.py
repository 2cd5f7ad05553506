"""Opens the lexicon of what signs say."""

from virl.platform.city.place_types import more_words
from virl.platform.perception.lexicon import Lexicon, LexiconSettings
from virl.platform.perception.models import Models
from virl.platform.perception.registry import Kind


def open_lexicon(settings: LexiconSettings, _: Models) -> Lexicon:
    """Open the lexicon of these words."""
    return Lexicon(settings, more_words(settings.more) if settings.more else None)


KIND = Kind("lexicon", LexiconSettings, open_lexicon)
