"""Opens the lexicon of what signs say."""

from virl.platform.perception.lexicon import Lexicon, LexiconSettings, MoreWords
from virl.platform.perception.models import Models
from virl.platform.perception.registry import Kind
from virl.resources import data_folder
from virl.settings import load_settings


def open_lexicon(settings: LexiconSettings, _: Models) -> Lexicon:
    """The lexicon of these words."""
    words = data_folder("platform/words") / f"{settings.more}.yaml"
    more = load_settings(words, MoreWords) if settings.more else None
    return Lexicon(settings, more)


KIND = Kind("lexicon", LexiconSettings, open_lexicon)
