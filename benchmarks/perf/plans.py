"""The plans of cities whose every sign and house is known: made ones and rebuilt ones."""

from virl.errors import BadInput
from virl.platform.providers.offline.city import plan_of as made_plan
from virl.platform.providers.offline.plan import CityPlan
from virl.platform.providers.open import city_settings
from virl.platform.providers.osm.city_file import OsmCity


def plan_of(city: str) -> CityPlan:
    """The plan of a city by its name, file or extract.

    Raises:
        BadInput: the city is neither made nor rebuilt.
    """
    settings = city_settings(city)
    if isinstance(settings, OsmCity):
        from virl.platform.providers.osm.cache import load_twin  # noqa: PLC0415 - needs the extra osm

        return load_twin(settings.file, settings.part).plan
    plan = made_plan(settings)
    if plan is None:
        raise BadInput(f"{city}: give a made city, or an OpenStreetMap extract")
    return plan
