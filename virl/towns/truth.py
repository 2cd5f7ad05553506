"""What a made city truly shows, for scoring."""

from collections.abc import Collection, Mapping

from virl.errors import NoStreetView, NotFound
from virl.geo.globe import LatLng
from virl.platform.city.city import Thing, Visible
from virl.platform.city.streetview import Camera
from virl.towns.on_demand import RendererOf, check_drawing
from virl.towns.plan.town_plan import CityPlan


class OfflineTruth:
    """The ground truth of a made town, from its plan and renderer.

    Args:
        plan: the city.
        renderer: returns what draws the same plan.
    """

    def __init__(self, plan: CityPlan, renderer: RendererOf) -> None:
        self._layout = plan.layout
        self._xy = plan.layout.panoramas.xy
        self._renderer = renderer
        self._attributes = {shop.place.id: shop.attributes for shop in plan.shops}

    def visible(
        self, pano_id: str, camera: Camera, min_pixels: int = 12, kinds: Collection[str] | None = None
    ) -> list[Visible]:
        """Return the signs and furniture of which a view shows at least `min_pixels` pixels, nearest first.

        Args:
            pano_id: where the camera stands.
            camera: of the view.
            min_pixels: fewer are not seen.
            kinds: the only kinds looked for; `None` looks for all. The fewer, the faster.

        Raises:
            NoStreetView: there is no such panorama.
        """
        prefix, _, number = pano_id.partition("-")
        if prefix != "vt" or not number.isdecimal() or int(number) >= len(self._xy):
            raise NoStreetView(f"no panorama has the id {pano_id!r}: ids end at vt-{len(self._xy) - 1:05d}")
        x, y = self._xy[int(number)]
        return self._renderer().visible(float(x), float(y), camera, min_pixels, kinds)

    def things(self, kinds: Collection[str] | None = None) -> list[Thing]:
        """Return all street furniture of these kinds, sorted by id."""
        frame = self._layout.frame
        return sorted(
            (
                Thing(one.id, one.kind, frame.position(one.x, one.y), one.is_mapped)
                for one in self._layout.furniture
                if kinds is None or one.kind in kinds
            ),
            key=lambda thing: thing.id,
        )

    def crossings(self) -> list[LatLng]:
        """Return the positions of the middles of all marked crossings."""
        check_drawing()
        from virl.towns.render.segments import zebra_middles  # noqa: PLC0415 - as the renderer

        frame = self._layout.frame
        return [frame.position(*middle) for middle in zebra_middles(self._layout)]

    def attributes(self, place_id: str) -> Mapping[str, bool]:
        """Return the hidden attributes of a place.

        Raises:
            NotFound: no place has this id.
        """
        if place_id not in self._attributes:
            raise NotFound(f"no place has the id {place_id!r} in this city")
        return self._attributes[place_id]
