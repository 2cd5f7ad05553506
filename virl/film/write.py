"""Writes the film of a run to a file."""

import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from virl.errors import BadInput
from virl.extras import Late, require
from virl.files.writing import write_whole
from virl.film.frames import Sheet, Size
from virl.film.story import read_story, schedule
from virl.journal.walk_map import ground_of
from virl.pages.numbers import megabytes
from virl.platform.providers.cities import open_known

_av = Late("av", extra="film")

RATE = 10
"""Frames in a second; chosen: nothing in a film moves smoothly."""
Bar = Callable[[int], AbstractContextManager[Callable[[], None]]]
"""Opener of a progress bar for a number of pictures; the bar is the function that advances it."""
Options = Mapping[str, str]
"""Options of an encoder or a container, by FFmpeg's names."""
RECIPES: Mapping[str, tuple[str, Options, Sequence[Options]]] = {
    ".webm": (
        "libvpx-vp9",
        {},
        [{"crf": crf, "b": "0", "deadline": "good", "cpu-used": "5"} for crf in ("32", "42", "52", "62")],
    ),
    ".webp": ("libwebp_anim", {"loop": "0"}, [{"quality": part} for part in ("70", "50", "30", "10")]),
}
"""(encoder, options of the container, options of the encoder from the best quality on) by a file's ending.

Chosen: films for browsers and players, and animated pictures for pages that show no films.
"""


@dataclass(frozen=True, slots=True)
class Film:
    """A written film: its file, its length in seconds, and its size in bytes."""

    path: Path
    seconds: float
    size: int


def open_sheet(run: Path, size: Size) -> Sheet:
    """Return what draws the film of a run.

    Args:
        run: the folder of an agent's run.
        size: width and height in pixels; odd ones become even.

    Raises:
        JournalBroken: the journal is missing or damaged.
        BadInput: the run has nothing to show.
    """
    story = read_story(run)
    return Sheet(story, ground_of(open_known(story.city)), (size[0] // 2 * 2, size[1] // 2 * 2))


def write_film(sheet: Sheet, out: Path, *, seconds: float, most_bytes: int, bar: Bar) -> Film:
    """Write the film that a sheet draws to `out`, which appears once it is whole.

    Args:
        sheet: draws the pictures.
        out: the file, ending in `.webm` or `.webp`.
        seconds: greatest length.
        most_bytes: greatest size of the file.
        bar: shows how many pictures are drawn.

    Raises:
        BadInput: a picture is damaged, the ending is another one, or the film of the lowest quality is larger
            than `most_bytes`.
        ModelUnavailable: the extra `film` is not installed.
        CannotWrite: the file cannot be written.
    """
    if out.suffix not in RECIPES:
        raise BadInput(f"{out}: the name of a film ends in {' or '.join(RECIPES)}")
    require("film", what="a film")
    plan = schedule(sheet.story.moments, seconds, RATE)
    data = b""
    for quality in RECIPES[out.suffix][2]:
        with bar(len(plan)) as advance:
            data = encode(sheet, plan, out.suffix, quality, advance)
        if len(data) <= most_bytes:
            write_whole(out, data, "film the run again")
            return Film(out, sum(frames for _, frames in plan) / RATE, len(data))
    raise BadInput(
        f"{out}: {megabytes(len(data))} at the lowest quality: give a smaller --seconds or --width"
    )


def encode(
    sheet: Sheet, plan: Sequence[tuple[int, int]], kind: str, quality: Options, advance: Callable[[], None]
) -> bytes:
    """Return a film as the bytes of a file.

    Args:
        sheet: draws its pictures.
        plan: (index of a moment, number of its frames), in order.
        kind: the ending of the file's name.
        quality: options of the encoder.
        advance: called after each picture.
    """
    file, (codec, options, _) = io.BytesIO(), RECIPES[kind]
    with _av.open(file, "w", format=kind[1:], options=dict(options)) as film:
        stream = film.add_stream(codec, rate=RATE, options=dict(quality))
        (stream.width, stream.height), stream.pix_fmt = sheet.size, "yuv420p"
        for index, frames in plan:
            picture = _av.VideoFrame.from_image(sheet.draw(index))
            for _ in range(frames):
                film.mux(stream.encode(picture))
            advance()
        film.mux(stream.encode())
    return file.getvalue()
