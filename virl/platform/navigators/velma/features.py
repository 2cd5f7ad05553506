"""Embeddings of views kept in a file, so that walks need neither pictures nor an image model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from virl.errors import BadInput, NoImagery
from virl.geo.globe import Floats, signed_turn
from virl.platform.perception.arrays import read_arrays, write_arrays

FEATURES_FORMAT = 1
"""Schema version of a feature file."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureFile:
    """Embeddings of views at panoramas in evenly spaced directions, and of captions.

    A view that is asked for is answered by the nearest one kept: with 24 headings it is off by 7.5 degrees
    at most.
    """

    source: str
    headings: Floats
    """Degrees clockwise from north of the views of every panorama, shape (headings,)."""
    embeddings: NDArray[np.float16]
    """Rows of unit length, shape (panoramas, headings, dimension)."""
    captions: NDArray[np.float32]
    """Rows of unit length, shape (captions, dimension)."""
    model: str
    numbers: Mapping[str, int]
    """Panorama id to row."""
    caption_numbers: Mapping[str, int]
    """Caption to row."""

    def views(self, pano_id: str, headings: Sequence[float]) -> NDArray[np.float32]:
        """Return one row for the nearest view kept to each direction, degrees clockwise from north."""
        if pano_id not in self.numbers:
            raise NoImagery(
                f"{self.source}: has no panorama {pano_id!r}: write features of every panorama of the graph"
            )
        away = np.abs(signed_turn(np.asarray(headings)[:, None], self.headings[None, :]))
        found: NDArray[np.float16] = self.embeddings[self.numbers[pano_id], np.argmin(away, axis=1)]
        return found.astype(np.float32)

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row for each text, from the captions kept.

        Raises:
            BadInput: a text is not among them.
        """
        for text in texts:
            if text not in self.caption_numbers:
                raise BadInput(
                    f"{self.source}: has no caption {text!r}: add it, or give a text encoder beside the file"
                )
        found: NDArray[np.float32] = self.captions[[self.caption_numbers[text] for text in texts]]
        return found


def write_features(
    file: Path,
    model: str,
    headings: Sequence[float],
    embeddings: Mapping[str, NDArray[np.float32]],
    captions: Mapping[str, NDArray[np.float32]] | None = None,
) -> None:
    """Write embeddings of views and captions to a `.npz` file.

    Args:
        file: a `.npz` file.
        model: what embedded views and captions.
        headings: degrees of the views, the same at every panorama.
        embeddings: for each panorama one row a heading.
        captions: a row for each text, such as `picture of a church`; none by default.
    """
    dimension = next(iter(embeddings.values())).shape[-1] if embeddings else 0
    rows = list((captions or {}).values())
    write_arrays(
        file,
        "velma-features",
        FEATURES_FORMAT,
        model,
        {
            "headings": np.asarray(headings, float),
            "panoramas": np.array(list(embeddings), dtype=np.str_),
            "embeddings": np.array(list(embeddings.values()), np.float16),
            "captions": np.array(list(captions or {}), dtype=np.str_),
            "caption_embeddings": np.array(rows, np.float32).reshape(len(rows), dimension),
        },
    )


def read_features(file: Path, model: str | None = None) -> FeatureFile:
    """Read a file of embeddings of views and captions.

    Raises:
        BadInput: the file is missing, of another version or model, or its arrays do not fit together.
    """
    names = ("headings", "panoramas", "embeddings", "captions", "caption_embeddings")
    arrays, made_by = read_arrays(file, "velma-features", FEATURES_FORMAT, model, names)
    headings, embeddings = arrays["headings"].astype(np.float64), arrays["embeddings"]
    captions = arrays["caption_embeddings"].astype(np.float32)
    fits = embeddings.ndim == 3 and embeddings.shape[:2] == (len(arrays["panoramas"]), len(headings))
    if not fits or not len(headings) or captions.shape != (len(arrays["captions"]), embeddings.shape[2]):
        raise BadInput(f"{file}: the sizes of the arrays differ: write the features again")
    return FeatureFile(
        source=str(file),
        headings=headings,
        embeddings=embeddings.astype(np.float16, copy=False),
        captions=captions,
        model=made_by,
        numbers={str(pano_id): row for row, pano_id in enumerate(arrays["panoramas"])},
        caption_numbers={str(text): row for row, text in enumerate(arrays["captions"])},
    )
