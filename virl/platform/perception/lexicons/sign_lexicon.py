"""Opens the lexicon of what signs say."""

from virl.platform.perception.lexicon import Lexicon, LexiconSettings, MoreWords
from virl.platform.perception.models import Models, model_file
from virl.platform.perception.registry import Kind
from virl.settings import load_settings


def open_lexicon(settings: LexiconSettings, _: Models) -> Lexicon:
    """The lexicon of these words."""
    more = load_settings(model_file(settings.more), MoreWords) if settings.more else None
    return Lexicon(settings, more)


KIND = Kind("lexicon", LexiconSettings, open_lexicon)
