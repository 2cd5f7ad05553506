"""Street View Static: relocation by free metadata requests, and views as pictures."""

from typing import Self

from pydantic import model_validator

from virl.errors import BadInput, NoImagery, ProviderError
from virl.geo import LatLng
from virl.platform.providers.google.http import Call, GoogleHttp
from virl.platform.providers.http.bodies import ReplyBody, picture
from virl.platform.streetview import Camera, Image

SERVICE = "Street View Static API"
LARGEST = 640  # pixels of a side


class _Nearest(ReplyBody):
    """What the metadata says of the nearest panorama."""

    status: str
    pano_id: str = ""

    @model_validator(mode="after")
    def _is_named(self) -> Self:
        if self.status == "OK" and not self.pano_id:
            raise ValueError("pano_id is missing")
        return self


def nearest_id(http: GoogleHttp, position: LatLng, radius: float, *, outdoor: bool) -> str | None:
    """The id of the panorama nearest to a position, `None` without one. Free of charge.

    Args:
        http: the way to Google.
        position: any position.
        radius: metres.
        outdoor: whether pictures taken indoors, and spheres of which that is not known, are left out.
    """
    query = {"location": f"{position.lat!r},{position.lng!r}", "radius": f"{radius:g}"}
    if outdoor:
        query["source"] = "outdoor"
    nearest = http.read(Call("static_metadata", query=query), _Nearest)
    return nearest.pano_id if nearest.status == "OK" else None


def static_view(http: GoogleHttp, pano_id: str, camera: Camera) -> Image:
    """The picture through a camera at a panorama.

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
    try:
        data = http.bytes(Call("static_image", query=query))
    except ProviderError as fault:
        if fault.status == 404:
            raise NoImagery(f"no picture of panorama {pano_id!r}") from None
        raise
    pixels = picture(data, SERVICE)
    if pixels.shape[:2] != (camera.height, camera.width):
        got = f"{pixels.shape[1]}x{pixels.shape[0]}"
        reason = f"{camera.width}x{camera.height} pixels were asked for and {got} came"
        raise ProviderError(SERVICE, reason, "request a smaller view")
    return pixels
