"""Settings of visual memory: switches of its rules, sizes, and how far to trust a box."""

from typing import Annotated

from pydantic import Field

from virl.errors import UnknownName
from virl.resources import data_folder, names_in
from virl.settings.model import Settings, load_settings

FOLDER = "platform/memory"
"""Folder of the files of settings among virl's data."""


class Rules(Settings):
    """The rules that compare sightings; each can be switched off, to measure its worth."""

    same_panorama: bool = True
    """True to compare boxes seen from one panorama by the directions they cover."""
    geometry: bool = True
    """True to compare positions by their uncertainties."""
    box_range: bool = True
    """True to read the distance off a box; without it one view gives only a rough distance."""
    features: bool = False
    """True to compare crops by a matcher where the other rules are undecided.
    Off, as it was measured to bring nothing beside the others (`docs/explanation/counting-results.md`)."""
    merge: bool = True
    """True to let `VisualMemory.merge` join objects whose positions have converged; needs `geometry`."""


class MemorySettings(Settings):
    """Settings of visual memory; `platform/memory/` holds them as YAML.

    Angles and shares are standard deviations unless they say otherwise.
    """

    rules: Rules = Rules()
    """Rules that are switched on."""

    radius_m: float = Field(40.0, gt=0, le=200)
    """Metres, plus 3 standard deviations of its position, within which a sighting is compared with objects.
    Chosen a little above V-IRL's 30."""
    reach_m: float = Field(200.0, gt=1, le=1000)
    """Largest distance in metres from the camera at which an object is placed.
    Chosen: a bin is 3 pixels high there in a view of 60 degrees and 640 pixels."""
    heading_deg: float = Field(10.0, ge=0, le=180)
    """Angle in degrees between the middles of two boxes from one panorama above which they are two objects.
    V-IRL's value."""
    overlap: float = Field(0.3, gt=0, le=1)
    """Least overlap, [0, 1], of the solid angles of two boxes from a panorama that are one object; chosen."""
    density_per_m2: float = Field(0.001, gt=0, lt=1)
    """Expected number of objects of a label on a square metre: the more, the likelier is a new object.
    Chosen, one on each 30 m by 30 m where there are any."""
    gate: float = Field(13.8, gt=0)
    """Squared Mahalanobis distance above which two positions are of different objects.
    Chi-squared with two degrees of freedom stays below it in 99.9 % of cases."""
    min_matches: int = Field(30, gt=0)
    """Least number of matched points of two crops that show the same object.
    The file of a matcher in `platform/models/` states the one measured for it; this is that of `sift` (V-IRL
    asks for 100 of LightGlue on whole views)."""
    margin: float = Field(3.0, ge=0, le=10)
    """Margin of a crop around its box on each side, as a share of the box's width and height.
    That of `sift`, as for `min_matches`."""
    compared_views: int = Field(2, ge=1, le=20)
    """Largest number of an object's views that are matched, the most similar direction first; chosen."""

    camera_height_m: float = Field(2.5, gt=0, le=10)
    """Height of the camera above the ground in metres; that of a street-view car."""
    ground_m: float = Field(0.2, ge=0)
    """Error of the camera's height in metres: kerbs, the crown of the road, gentle slopes; chosen."""
    heights_m: dict[str, Annotated[float, Field(gt=0, le=50)]] = Field(default_factory=dict)
    """Typical height in metres by label; the distance of objects of other labels is read off their foot."""
    height_share: float = Field(0.15, gt=0, lt=1)
    """Spread of the heights of objects of a label, as a share of the height; chosen."""
    hidden_share: float = Field(0.25, ge=0)
    """Error of the logarithm of a distance read off a foot that may be hidden; chosen."""
    jitter: float = Field(0.1, ge=0, lt=1)
    """Error of a box's edges as a share of its width and height; chosen, for open vocabularies."""
    heading_error_deg: float = Field(1.0, ge=0, lt=45)
    """Error of a view's heading in degrees; chosen, for panoramas aligned by their makers."""
    position_m: float = Field(0.5, gt=0)
    """Error in metres, each way, of a panorama's position and of an object's middle; chosen."""
    guess_m: float = Field(15.0, gt=0)
    """Median distance in metres where a box tells none; chosen, V-IRL's limit for a right answer."""
    guess_share: float = Field(0.7, gt=0)
    """Error of the logarithm of `guess_m`: two thirds of objects lie between half and twice; chosen."""

    def height(self, label: str) -> float | None:
        """Return the typical height in metres of objects with a label, ignoring case; `None` if not known."""
        return self.heights_m.get(label.strip().lower())


def memory_settings(name: str = "default") -> MemorySettings:
    """Return the settings of visual memory in `platform/memory/NAME.yaml`.

    Raises:
        BadInput: there is no such file (the message names those there are), or it is faulty.
    """
    path = data_folder(FOLDER) / f"{name}.yaml"
    if not path.is_file():
        raise UnknownName("memory settings", name, names_in(FOLDER, ".yaml"))
    return load_settings(path, MemorySettings)
