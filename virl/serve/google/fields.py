"""The names of fields, from `fields.yaml`."""

from pathlib import Path

from virl.settings.model import Settings, load_settings


class Fields(Settings):
    """Fields that a client may ask for."""

    place_without_answer: frozenset[str]
    legacy_place: frozenset[str]
    routes: frozenset[str]
    element: frozenset[str]


FIELDS = load_settings(Path(__file__).with_name("fields.yaml"), Fields)
