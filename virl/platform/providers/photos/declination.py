"""Headings by a magnetic compass as headings from true north, by the World Magnetic Model."""

from datetime import datetime

from virl.extras import module
from virl.geo.globe import LatLng
from virl.platform.providers.pictures.picture import FULL_TURN


def true_heading(magnetic: float, position: LatLng, taken: datetime) -> float | None:
    """Return a heading from true north, degrees; `None` where the model does not hold.

    Args:
        magnetic: degrees from magnetic north.
        position: of the compass.
        taken: the time; models cover the years 2010 to 2029.

    Raises:
        ModelUnavailable: the package of the model is not installed.
    """
    model = module("pygeomag", extra="photos")
    try:
        field = model.GeoMag(base_year=taken).calculate(
            position.lat,
            position.lng,
            alt=0,
            time=model.decimal_year_from_date(taken),
            raise_in_warning_zone=True,
        )
    except (ValueError, model.BlackoutZoneException, model.CautionZoneException):
        return None  # another year, or near a magnetic pole, where a compass turns freely
    return (magnetic + float(field.d)) % FULL_TURN
