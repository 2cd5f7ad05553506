"""Street View Static: relocation by free metadata requests, and views as pictures."""

from collections.abc import Callable
from typing import Self

from pydantic import model_validator

from virl.errors import BadInput, NoImagery, NoStreetView, ProviderError
from virl.geo.globe import LatLng
from virl.platform.city.streetview import Camera, Image, Panorama
from virl.platform.providers.google.client import Call, GoogleHttp
from virl.platform.providers.google.maps import PositionBody
from virl.platform.providers.http.replies import ReplyBody, picture

SERVICE = "Street View Static API"
LARGEST = 640
"""Largest width and height, pixels, of a picture of Street View Static."""


class _Nearest(ReplyBody):
    """The metadata of the panorama nearest to a position, or with an id."""

    status: str
    pano_id: str = ""
    location: PositionBody | None = None
    date: str | None = None
    copyright: str = ""

    @model_validator(mode="after")
    def _is_named(self) -> Self:
        """Check that an OK reply has an id and a position."""
        if self.status == "OK" and not (self.pano_id and self.location):
            raise ValueError("pano_id or location is missing")
        return self

    @property
    def panorama(self) -> Panorama | None:
        """Panorama without links, which this API does not know; `None` if there is none."""
        if self.status != "OK" or self.location is None:
            return None
        return Panorama(self.pano_id, self.location.position, 0.0, (), self.date)


def nearest_of(http: GoogleHttp, position: LatLng, radius: float, *, outdoor: bool) -> Panorama | None:
    """Return the nearest panorama within `radius` metres, without links; `None` if there is none. Free.

    Args:
        http: client of Google.
        position: any position on Earth.
        radius: largest distance in metres.
        outdoor: True to leave out pictures taken indoors, and spheres of which that is not known.
    """
    query = {"location": f"{position.lat!r},{position.lng!r}", "radius": f"{radius:g}"}
    if outdoor:
        query["source"] = "outdoor"
    return _ask_nearest(http, query)


def panorama_of(http: GoogleHttp, pano_id: str) -> Panorama:
    """Return the panorama with this id, without links, by a free request; raise `NoStreetView` without one.

    Raises:
        NoStreetView: there is none of this id.
    """
    found = _ask_nearest(http, {"pano": pano_id})
    if found is None:
        raise NoStreetView(f"no panorama has the id {pano_id!r}")
    return found


def _ask_nearest(http: GoogleHttp, query: dict[str, str]) -> Panorama | None:
    """Return the panorama that a metadata request finds, its copyright noted; `None` if there is none."""
    found = http.read(http.request(Call("static_metadata", query=query)), _Nearest)
    http.credit(found.copyright)
    return found.panorama


def static_view(http: GoogleHttp, pano_id: str, camera: Camera) -> Image:
    """Return the picture through a camera at a panorama, by one paid request.

    Args:
        http: client of Google.
        pano_id: id of the panorama.
        camera: camera of at most 640 by 640 pixels.

    Raises:
        BadInput: the camera is larger than 640 by 640 pixels.
        NoImagery: there is no such panorama, or no picture of it.
    """
    if max(camera.width, camera.height) > LARGEST:
        raise BadInput(
            f"{SERVICE} returns at most {LARGEST}x{LARGEST} pixels, not {camera.width}x{camera.height}: "
            "request a smaller view, or set `imagery: tiles`"
        )
    query = {
        "pano": pano_id,
        "size": f"{camera.width}x{camera.height}",
        "heading": repr(float(camera.heading)),
        "pitch": repr(float(camera.pitch)),
        "fov": repr(float(camera.fov)),
        "return_error_code": "true",
    }
    call = Call("static_image", query=query)
    return fetch_view(
        lambda: http.bytes(http.request(call)), pano_id, camera, SERVICE, "request a smaller view"
    )


def fetch_view(fetch: Callable[[], bytes], pano_id: str, camera: Camera, service: str, remedy: str) -> Image:
    """Return the picture that `fetch` gets; one of another size than the camera's is an error with `remedy`.

    Args:
        fetch: function that fetches the encoded picture.
        pano_id: id of the panorama.
        camera: camera whose size the picture must have.
        service: name of the service, for errors.
        remedy: advice on a picture of another size.

    Raises:
        NoImagery: there is no such panorama, or no picture of it.
        ProviderError: the service fails, or draws another size.
    """
    try:
        data = fetch()
    except ProviderError as fault:
        if fault.status == 404:
            raise NoImagery(f"no picture of panorama {pano_id!r}") from None
        raise
    pixels = picture(data, service)
    if pixels.shape[:2] != (camera.height, camera.width):
        got = f"{pixels.shape[1]}x{pixels.shape[0]}"
        reason = f"virl asked for {camera.width}x{camera.height} pixels and got {got}"
        raise ProviderError(service, reason, remedy)
    return pixels
