"""Navigators, which decide where a walk goes, and what they need."""

from virl.geo.region import Region
from virl.platform.city.streetview import relocate
from virl.platform.movers.base import Choice
from virl.platform.navigators.point import PointNavigator, PointPlan, plan_route
from virl.platform.navigators.region import RegionNavigator
from virl.platform.navigators.sight.navigator import Explorer, SightNavigator
from virl.platform.navigators.tourist.navigator import TouristNavigator
from virl.platform.navigators.tourist.spotting import LandmarkSighting, LandmarkSpotter
from virl.settings.region_file import read_region

__all__ = [
    "Choice",
    "Explorer",
    "LandmarkSighting",
    "LandmarkSpotter",
    "PointNavigator",
    "PointPlan",
    "Region",
    "RegionNavigator",
    "SightNavigator",
    "TouristNavigator",
    "plan_route",
    "read_region",
    "relocate",
]
