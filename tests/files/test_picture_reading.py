"""Pictures from outside are refused by their header, before they take memory."""

import os
import struct
import tracemalloc
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from virl.bench.records import read_photo
from virl.errors import BadInput, NoImagery, ProviderError, VirlError
from virl.files.pictures import MOST_PIXELS, PictureFault, open_picture
from virl.pages.pictures import embed
from virl.platform.perception.images import decode
from virl.platform.providers.http.replies import picture
from virl.platform.providers.pictures.streetview import PanoramaFolder

MEMORY = 8_000_000
"""Bytes; the picture of the finding takes 530 MB once decoded."""


def png_bomb(width: int, height: int) -> bytes:
    """A PNG of one colour: 13,300 x 13,300 pixels are some 172 kB."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer, row = zlib.compressobj(9), bytes(1 + width // 8 + 1)
    pixels = b"".join([*(packer.compress(row) for _ in range(height)), packer.flush()])
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def progressive(scans: int) -> bytes:
    """A progressive JPEG whose last scan, and the table before it, are repeated."""
    file = BytesIO()
    PIL.Image.new("L", (64, 64), 128).save(file, "JPEG", progressive=True)
    data = file.getvalue()
    table = data.rindex(b"\xff\xc4")
    return data[:-2] + data[table:-2] * scans + b"\xff\xd9"


@pytest.mark.parametrize(
    "data",
    [
        progressive(200),
        b"\xff\xd8" + b"\xff" * 1_000_000,
        b"\xff\xd8\xff" + bytes(1_000_000),
        b"\x89PNG\r\n\x1a\n" + (struct.pack(">I", 0) + b"abCd" + bytes(4)) * 60_000,
    ],
    ids=["scans", "fill bytes", "zeros", "chunks"],
)
def test_a_picture_of_very_many_parts_is_not_decoded(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "parts.jpg").write_bytes(data)
    for source in (data, tmp_path / "parts.jpg"):
        with pytest.raises(PictureFault, match="or more"), open_picture(source):
            pass


def test_a_picture_of_usual_scans_is_read() -> None:
    for made in (progressive(0), progressive(20)):
        with open_picture(made) as opened:
            assert opened.convert("RGB").size == (64, 64)


def test_neither_a_pipe_nor_a_file_of_holes_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jpg")
    with (tmp_path / "holes.jpg").open("wb") as file:
        file.write(b"\xff\xd8\xff")
        file.truncate(20_000_000_000)
    for name in ("pipe.jpg", "holes.jpg"):
        with pytest.raises(PictureFault, match="no regular file"), open_picture(tmp_path / name):
            pass
        assert not embed(tmp_path, [name])


@pytest.fixture(scope="module")
def bomb() -> bytes:
    data = png_bomb(13_300, 13_300)
    assert len(data) < 200_000
    return data


def refusal(work: Callable[[], object], kind: type[Exception]) -> str:
    """The error's one line, raised without the memory that the picture would take."""
    tracemalloc.start()
    try:
        with pytest.raises(kind) as refused:
            work()
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()
    assert "\n" not in str(refused.value)
    return str(refused.value)


READERS: dict[str, tuple[Callable[[Path], object], type[VirlError]]] = {
    "a reply of a provider": (lambda file: picture(file.read_bytes(), "Street View"), ProviderError),
    "a picture in memory": (lambda file: decode(file.read_bytes()), BadInput),
    "a photo of a data set": (lambda file: read_photo(str(file)), BadInput),
    "a panorama": (lambda file: PanoramaFolder(file.parent).panorama("bomb", 0.0), NoImagery),
}


@pytest.mark.parametrize(("read", "kind"), READERS.values(), ids=READERS)
def test_a_bomb_is_refused_by_its_header(
    bomb: bytes, tmp_path: Path, read: Callable[[Path], object], kind: type[VirlError]
) -> None:
    file = tmp_path / "bomb.jpg"
    file.write_bytes(bomb)
    said = refusal(lambda: read(file), kind)
    assert "13300 x 13300 pixels" in said


@pytest.mark.parametrize("size", [20_000, 60_000])
def test_a_header_alone_is_enough(size: int) -> None:
    data = bytearray(png_bomb(8, 8))
    data[16:24] = struct.pack(">II", size, size)
    data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
    assert "too large a picture" in refusal(lambda: picture(bytes(data), "Street View"), ProviderError)


def test_pages_leave_it_out(bomb: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(bomb)
    assert embed(tmp_path, ["a.jpg"]) == {}


@pytest.mark.parametrize(
    "data", [b"", b"GIF89a", b"%!PS-Adobe-3.0 EPSF-3.0\n", b"\xff\xd8\xff\xe0" + b"x" * 90]
)
def test_what_is_no_picture_is_one_fault(data: bytes) -> None:
    with pytest.raises(PictureFault, match="not a readable picture") as refused, open_picture(data) as opened:
        opened.load()
    assert "0x" not in str(refused.value)


def test_a_picture_within_the_bound_is_read() -> None:
    written = BytesIO()
    PIL.Image.fromarray(np.zeros((30, 40, 3), np.uint8)).save(written, "PNG")
    assert picture(written.getvalue(), "Street View").shape == (30, 40, 3)
    with open_picture(written.getvalue(), most_pixels=1_200) as opened:
        assert opened.size == (40, 30)
    with (
        pytest.raises(PictureFault, match=r"40 x 30 pixels, at most 1,199"),
        open_picture(written.getvalue(), most_pixels=1_199),
    ):
        pass
    assert MOST_PIXELS == 50_000_000
