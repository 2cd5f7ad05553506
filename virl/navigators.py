"""Navigators, which decide where a walk goes, and what they need."""

from virl.platform.movement.base import Choice
from virl.platform.movement.instruction.tourist.navigator import TouristNavigator
from virl.platform.movement.instruction.tourist.spotting import LandmarkSighting, LandmarkSpotter
from virl.platform.movement.point.navigator import PointNavigator
from virl.platform.movement.point.plan import PointPlan, plan_route
from virl.platform.movement.region.navigator import RegionNavigator
from virl.platform.movement.sight.navigator import Explorer, SightNavigator
from virl.platform.relocate import relocate
from virl.region import Region
from virl.region_file import read_region

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
