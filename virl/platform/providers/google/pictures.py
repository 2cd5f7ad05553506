"""Pictures of Street View as they were asked for."""

from collections.abc import Callable

from virl.errors import NoImagery, ProviderError
from virl.platform.providers.http.bodies import picture
from virl.platform.streetview import Camera, Image


def drawn(fetch: Callable[[], bytes], pano_id: str, camera: Camera, service: str, remedy: str) -> Image:
    """The picture that a service draws for a camera.

    Args:
        fetch: asks for it.
        pano_id: the panorama.
        camera: whose size the picture must have.
        service: who draws it, for errors.
        remedy: what to do about a picture of another size.

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
        reason = f"{camera.width}x{camera.height} pixels were asked for and {got} came"
        raise ProviderError(service, reason, remedy)
    return pixels
