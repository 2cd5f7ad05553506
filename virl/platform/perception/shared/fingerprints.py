"""Telling pictures apart by what they show."""

import hashlib

from virl.platform.city.streetview import Image

Fingerprint = tuple[tuple[int, ...], bytes]


def fingerprint(image: Image) -> Fingerprint:
    """Return a key that is the same for pictures of equal size and equal pixels."""
    return image.shape, hashlib.blake2b(image.tobytes(), digest_size=16).digest()
