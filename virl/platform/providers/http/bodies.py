"""Reading the bodies of replies: what they lack becomes a `ProviderError`."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO

import numpy as np
from PIL import Image as Picture

from virl.errors import ProviderError
from virl.platform.streetview import Image


@contextmanager
def reading(service: str) -> Iterator[None]:
    """Turns what goes wrong while a reply is read into a `ProviderError`.

    Args:
        service: who replied, such as ``"Places API (New)"``.
    """
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as fault:
        reason = f"the reply does not hold what it should ({type(fault).__name__}: {fault})"
        raise ProviderError(service, reason, "try again") from fault


def picture(data: bytes, service: str) -> Image:
    """Decode a picture to RGB.

    Raises:
        ProviderError: it is none.
    """
    try:
        with Picture.open(BytesIO(data)) as opened:
            return np.asarray(opened.convert("RGB"))
    except (OSError, SyntaxError, ValueError, Picture.DecompressionBombError) as fault:
        raise ProviderError(service, "the reply is not a readable picture", "try again") from fault
