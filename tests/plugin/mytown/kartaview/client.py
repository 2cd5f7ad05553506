"""Lists and photos of KartaView."""

from collections.abc import Sequence

from mytown.kartaview.photos import Answer, shots_of
from virl.geo.globe import LatLng, distance
from virl.platform.providers.http.replies import ExpectedBody, HttpFault, HttpReply, usual_judge
from virl.platform.providers.open.cells import Cell
from virl.platform.providers.open.picture_services import PictureServer, PictureService, PictureSettings, Shot
from virl.platform.providers.rentcast.listings import every_page

MOST_PAGES = 10  # of a square; one with more photos is asked for in four parts (chosen)
FOUND, NOTHING_FOUND, NOT_ALLOWED = 600, 601, 401


def judge(expected: ExpectedBody, reply: HttpReply) -> HttpReply | HttpFault:
    """Judge a reply: a refusal may come with status 200, and its own code in the body."""
    judged = usual_judge(expected, reply)
    if isinstance(judged, HttpFault) or expected.kind != "object":
        return judged
    told = Answer.model_validate_json(reply.body).status
    if told.code in {FOUND, NOTHING_FOUND}:
        return judged
    status = told.code if told.code == NOT_ALLOWED else reply.status
    return HttpFault(f"code {told.code}: {told.message}", "refused", status=status, code=str(told.code))


class KartaView:
    """The API of KartaView, version 2.0.

    Args:
        server: of the API.
    """

    def __init__(self, server: PictureServer) -> None:
        self._server = server

    def shots(self, cell: Cell) -> Sequence[Shot] | None:
        """Return the photos in a square; `None` where there are more than `MOST_PAGES` pages hold."""
        middle = cell.box.middle
        radius = distance(middle, LatLng(cell.box.south, cell.box.west))
        around = {"lat": f"{middle.lat:.7f}", "lng": f"{middle.lng:.7f}", "radius": f"{radius:.0f}"}

        def ask(number: int) -> tuple[list[Shot], bool]:
            page = {"page": str(number + 1), "itemsPerPage": str(self._server.settings.page)}
            request = self._server.request("kartaview_photos", "/2.0/photo/", around | page)
            result = self._server.service.read(request, Answer).result
            return shots_of(result), result.more

        found, more = every_page(ask, MOST_PAGES)
        return None if more else [shot for shot in found if cell.contains(shot.position)]

    def picture(self, shot: Shot, part: str) -> bytes:
        """Return a photo as a JPEG file: `sd` or `hd`."""
        address = shot.sd if part == "sd" else shot.hd
        path = f"/photo/{shot.id}/{part}"
        return self._server.service.bytes(
            self._server.request(f"kartaview_{part}", path, url=lambda: address)
        )


PICTURES = PictureService(
    PictureSettings(
        title="KartaView",
        base_url="https://api.openstreetcam.org",
        per_minute=60,  # chosen: no limit is published
        page=150,  # the most that a page holds
    ),
    KartaView,
    judge,
)
