"""Embeddings computed once: those of views kept on disk, those of texts in memory.

Arrays are kept in `.npz` files that say what they are: kind, schema version and model; nothing is unpickled.
Such a file is written whole or not at all, and the checksums of its archive tell when it was damaged.
"""

import hashlib
import logging
import re
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from virl.errors import BadInput
from virl.files.writing import replace_file
from virl.platform.city.streetview import Camera, Image, StreetView
from virl.platform.perception.base import Embeddings
from virl.resources import cache_home

Arrays = dict[str, NDArray[Any]]
"""Arrays by name, as in an `.npz` file."""

MOST_UNPACKED = 100
"""Largest ratio of the size of unpacked arrays to their file's; chosen: virl writes uncompressed."""

_DAMAGE = (ValueError, TypeError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile)
"""Errors of NumPy and zipfile for damaged files (tried on thousands with bytes changed or cut off)."""


def write_arrays(file: Path, kind: str, version: int, model: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays to a file with their kind, version and model; the file is replaced as a whole.

    Args:
        file: path of the file to write.
        kind: name of the format.
        version: of the format.
        model: name of the model that made the arrays.
        arrays: arrays by name.

    Raises:
        CannotWrite: the file cannot be written; what was there before still is.
    """
    labels: Arrays = {"kind": np.array(kind), "version": np.array(version), "model": np.array(model)}
    with replace_file(file, "go on") as stream:
        np.savez(stream, allow_pickle=False, **labels, **arrays)


def read_arrays(
    file: Path, kind: str, version: int, model: str | None, names: Sequence[str]
) -> tuple[Arrays, str]:
    """Return (arrays by name, their model) of a file; raise `BadInput` if kind, version or model differ.

    Args:
        file: path of the file to read.
        kind: name of the format.
        version: of the format.
        model: name of the model that must have made the arrays; `None` for any.
        names: of the arrays that the file must have.

    Raises:
        BadInput: the file is missing, broken, of another kind or version, or from another model.
    """
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            unpacked = sum(part.file_size for part in stored.zip.infolist()) if stored.zip else 0
            if unpacked > MOST_UNPACKED * max(file.stat().st_size, 1):
                raise ValueError(f"it unpacks to more than {MOST_UNPACKED} times its size")
            arrays = {name: stored[name] for name in stored.files}
    except FileNotFoundError:
        raise BadInput(f"{file}: no such file") from None
    except (*_DAMAGE, OSError) as fault:
        raise BadInput(f"{file}: not a readable .npz file without objects: {fault}") from None
    missing = {"kind", "version", "model", *names} - arrays.keys()
    if missing:
        raise BadInput(f"{file}: contains no {', '.join(sorted(missing))}: not a file of kind {kind}")
    if str(arrays["kind"]) != kind or str(arrays["version"]) != str(version):
        raise BadInput(
            f"{file}: is {arrays['kind']} version {arrays['version']}, not {kind} version {version}: "
            "write it again"
        )
    made_by = str(arrays["model"])
    if model is not None and made_by != model:
        raise BadInput(f"{file}: was made with {made_by}, not {model}: make it again with {model}")
    return arrays, made_by


FORMAT = 1
"""Version of the format of a file of embeddings."""

REMEMBERED_TEXTS = 10_000  # chosen: 40 MB with 1,024 numbers each
"""Largest number of texts whose embeddings are kept in memory."""

_KIND = "view-embeddings"
"""Name of the format of a file of embeddings."""
_DIGITS = 3
"""Decimal places of degrees in a camera's key; chosen: cameras that differ by less see the same."""
_UNIT = 1e-2
"""Largest difference of the length of a stored row from 1; chosen: a damaged one differs by more."""

CameraKey = tuple[float, float, float, float, float]
"""(heading, pitch, fov in degrees, width, height in pixels) of a camera, rounded."""

_log = logging.getLogger(__name__)


class ImageEncoder(Protocol):
    """An encoder of pictures as vectors; a `Recognizer` is one."""

    def embed_images(self, images: Sequence[Image]) -> Embeddings:
        """Return one embedding of length 1 for each picture, shape (n, d)."""
        ...


class TextEncoder(Protocol):
    """An encoder of texts as vectors in the same space as pictures; a `Recognizer` is one."""

    def embed_texts(self, texts: Sequence[str]) -> Embeddings:
        """Return one embedding of length 1 for each text, shape (n, d)."""
        ...


class TextMemory:
    """An encoder of texts that embeds each text once; safe to share between threads."""

    def __init__(self, encoder: TextEncoder, limit: int = REMEMBERED_TEXTS) -> None:
        """Use an encoder for new texts; keep in memory the embeddings of the `limit` texts used last."""
        self._encoder = encoder
        self._known: LRUCache[str, NDArray[np.float32]] = LRUCache(limit)
        self._lock = Lock()

    def embed_texts(self, texts: Sequence[str]) -> Embeddings:
        """Return one embedding of length 1 for each text, shape (n, d), from memory where known."""
        with self._lock:
            new = [text for text in dict.fromkeys(texts) if text not in self._known]
            fresh = dict(zip(new, self._encoder.embed_texts(new), strict=True)) if new else {}
            rows = [fresh[text] if text in fresh else self._known[text] for text in texts]
            # Last, as it may push out texts of this very call.
            self._known.update(fresh)
        return np.stack(rows) if rows else self._encoder.embed_texts([])


@dataclass(frozen=True, slots=True)
class EmbeddingStore:
    """A store on disk of the embeddings of views, by panorama and camera, of one model and one source.

    What is embedded together is one file, which is never changed afterwards: any number of processes may
    read and write, and a kill leaves nothing half done. A file that cannot be read is renamed to end in
    `.damaged`, with a warning, and counts as absent. Pictures that change need another source's name, or
    the folder deleted.
    """

    folder: Path
    """Folder of the store's files."""
    model: str
    """Name of the recognizer that made the embeddings."""

    def load(self, pano_id: str) -> dict[CameraKey, NDArray[np.float32]]:
        """Return the embeddings, shape (d,) each, that are stored for a panorama, by camera."""
        kept: dict[CameraKey, NDArray[np.float32]] = {}
        for file in sorted(self._folder_of(pano_id).glob(f"{_digest(pano_id)}-*.npz")):
            try:
                kept |= _read_rows(file, self.model)
            except BadInput as fault:
                with suppress(FileNotFoundError):  # another process was first
                    file.replace(file.with_suffix(".damaged"))
                    _log.warning("%s: set aside, its views are embedded again", fault)
        return kept

    def keep(self, pano_id: str, rows: Mapping[CameraKey, NDArray[np.float32]]) -> None:
        """Write embeddings of length 1, by camera, of one panorama to a new file beside those stored before.

        Raises:
            CannotWrite: the folder cannot be written.
        """
        cameras = np.array(list(rows), np.float64)
        name = f"{_digest(pano_id)}-{hashlib.sha256(cameras.tobytes()).hexdigest()[:16]}.npz"
        arrays: Arrays = {"cameras": cameras, "embeddings": np.array(list(rows.values()), np.float32)}
        write_arrays(self._folder_of(pano_id) / name, _KIND, FORMAT, self.model, arrays)

    def _folder_of(self, pano_id: str) -> Path:
        """Return the folder of the files of the panorama with an id."""
        return self.folder / _digest(pano_id)[:2]


def open_store(source: str, model: str, folder: Path | None = None) -> EmbeddingStore:
    """Open the store of the embeddings that a model makes of a source's pictures.

    Args:
        source: name of a city, or a folder of panoramas, that the pictures come from.
        model: name of the recognizer, as `Recognizer.name`.
        folder: folder of the stores of all sources and models; by default `embeddings` in the user's cache.
    """
    root = folder or cache_home() / "embeddings"
    return EmbeddingStore(root / _folder_name(source) / _folder_name(model), model)


@dataclass(frozen=True, slots=True)
class ViewEmbedder:
    """An encoder of views at panoramas; views with a stored embedding are not fetched."""

    streetview: StreetView
    """Provider of the views."""
    encoder: ImageEncoder
    """Encoder of views without a stored embedding."""
    store: EmbeddingStore | None = None
    """Store of the embeddings; `None` to compute all."""

    def embed(self, pano_id: str, cameras: Sequence[Camera]) -> Embeddings:
        """Return an embedding of length 1 for the view of each of n cameras at a panorama, shape (n, d).

        Raises:
            NoStreetView, NoImagery: the provider has no such view.
            ModelUnavailable: the model or its weights are missing.
            CannotWrite: the store cannot be written.
        """
        if not cameras:
            return self.encoder.embed_images([])
        kept = self.store.load(pano_id) if self.store else {}
        new = {camera_key(camera): camera for camera in cameras if camera_key(camera) not in kept}
        if new:
            images = [self.streetview.view(pano_id, camera).pixels for camera in new.values()]
            fresh = dict(zip(new, self.encoder.embed_images(images), strict=True))
            if self.store:
                self.store.keep(pano_id, fresh)
            kept |= fresh
        return np.stack([kept[camera_key(camera)] for camera in cameras])


def camera_key(camera: Camera) -> CameraKey:
    """Return the key under which the embedding of a camera's view is stored."""
    return (
        round(camera.heading, _DIGITS) % 360.0,
        round(camera.pitch, _DIGITS) + 0.0,  # no minus zero
        round(camera.fov, _DIGITS),
        float(camera.width),
        float(camera.height),
    )


def _read_rows(file: Path, model: str) -> dict[CameraKey, NDArray[np.float32]]:
    """Return the embeddings of a model in a file, by camera; raise `BadInput` for a damaged file."""
    arrays, _ = read_arrays(file, _KIND, FORMAT, model, ("cameras", "embeddings"))
    cameras, rows = arrays["cameras"], arrays["embeddings"]
    if cameras.ndim != 2 or cameras.shape[1] != 5 or rows.ndim != 2 or len(rows) != len(cameras):
        raise BadInput(f"{file}: the sizes of its arrays differ: write it again")
    if rows.dtype != np.float32 or not np.all(np.abs(np.linalg.norm(rows, axis=1) - 1) < _UNIT):
        raise BadInput(f"{file}: contains rows that are not of length 1: write it again")
    keys = [(heading, pitch, fov, width, height) for heading, pitch, fov, width, height in cameras.tolist()]
    return dict(zip(keys, rows, strict=True))


def _digest(text: str) -> str:
    """Return the first 24 hexadecimal digits of a text's SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _folder_name(text: str) -> str:
    """Return a folder name for a text: its safe characters and eight digits that differ for other texts."""
    return f"{re.sub(r'[^A-Za-z0-9._-]+', '-', text).strip('.-')[-60:]}-{_digest(text)[:8]}"
