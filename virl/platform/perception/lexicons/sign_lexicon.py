"""Opens the lexicon of what signs say."""

from virl.platform.perception.lexicon import Lexicon, LexiconSettings
from virl.platform.perception.models import Models
from virl.platform.perception.registry import Kind


def open_lexicon(settings: LexiconSettings, _: Models) -> Lexicon:
    """The lexicon of these words."""
    return Lexicon(settings)


KIND = Kind("lexicon", LexiconSettings, open_lexicon)
