"""Font files: those that virl ships and installed ones, their characters, and font objects to draw with."""

import base64
import io
import struct
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from PIL import ImageFont, features

from virl.errors import BadInput

FONT_FOLDER = Path(__file__).parent / "faces"

LATIN_FACES = (
    "OpenSans-Bold.ttf",
    "RobotoCondensed-Bold.ttf",
    "RobotoSlab-Bold.otf",
    "Round-Bold.ttf",
    "Caladea-Bold.ttf",
)
CJK_FACE = "CJK-Bold.otf"
SHAPED_FACES = ("Arabic-Bold.ttf", "Hebrew-Bold.ttf", "Devanagari-Bold.ttf", "Thai-Bold.ttf")
"""Font files of scripts whose letters join, stack or run from right to left, which need the library Raqm."""
FACES = (*LATIN_FACES, CJK_FACE, *SHAPED_FACES)
"""All font files that virl ships."""
INSTALLED = "fontpkg.family"
"""Entry-point group of packages that install a family of fonts, such as `fontpkg-noto-sans-tamil`."""
FAMILY = "virl names"
"""Family in the theme's `--sans` whose letters pages bring along."""
EVERYWHERE = (range(0x590), range(0x1E00, 0x2C00), range(0xE000, 0xFB1D), range(0xFE00, 0xFE70))
"""Code points that every system has, or none: Latin, Greek, Cyrillic; punctuation, symbols; private use."""
BOLD = 700
"""Weight of a bold font on OpenType's scale, 1 to 1000."""


def face_for(text: str, variant: int) -> str:
    """Return the first font file with all characters of a text, trying Latin ones from index `variant` on.

    Raises:
        BadInput: no shipped face has every character, or Pillow cannot shape the script.
    """
    needed = {ord(c) for c in text if not c.isspace()}
    # Only Latin letters have several faces, so that signs in them may differ.
    start = variant % len(LATIN_FACES)
    for face in (*LATIN_FACES[start:], *LATIN_FACES[:start], CJK_FACE, *SHAPED_FACES, *installed_faces()):
        if needed <= code_points(face):
            if is_shaped(face) and not features.check("raqm"):
                raise BadInput(f"cannot draw {text!r}: Pillow has no Raqm here; install the FriBiDi library")
            return face
    missing = min((needed - code_points(face) for face in FACES), key=len)
    characters = " ".join(map(chr, sorted(missing)))
    page = "docs/explanation/rendering.md, Fonts"
    raise BadInput(f"no shipped font can draw {text!r}: add {characters} to a subset ({page})")


def in_face(text: str) -> tuple[str, str]:
    """Return (text, font file that draws it); characters other than ASCII become "?" if no font has all."""
    try:
        return text, face_for(text, 0)
    except BadInput:
        known = text.encode("ascii", "replace").decode()
        return known, face_for(known, 0)


def can_letter(text: str) -> bool:
    """Return whether one font, shipped or installed, has every character of a text and can be used here."""
    try:
        face_for(text, 0)
    except BadInput:
        return False
    return True


@cache
def font(face: str, size: int) -> ImageFont.FreeTypeFont:
    """Return the font of a file in a size in pixels; not for use by two threads at once."""
    layout = ImageFont.Layout.RAQM if is_shaped(face) else ImageFont.Layout.BASIC
    made = ImageFont.truetype(str(FONT_FOLDER / face), size, layout_engine=layout)
    if face not in FACES:
        with suppress(OSError, NotImplementedError):  # it has one weight, or this FreeType cannot choose
            axes = made.get_variation_axes()
            made.set_variation_by_axes([_weight(axis["name"], axis["default"]) for axis in axes])
    return made


def _weight(axis: bytes | str, default: int | None) -> float:
    """Return the value to set on a variable font's axis of this name: `BOLD` for weight, else the default."""
    name = axis.decode() if isinstance(axis, bytes) else axis
    return BOLD if name.lower() == "weight" else default or 0


def is_shaped(face: str) -> bool:
    """Return whether a font file needs the library Raqm: one of `SHAPED_FACES` or not shipped by virl."""
    return face in SHAPED_FACES or face not in FACES


@cache
def installed_faces() -> tuple[str, ...]:
    """Return the paths of font files from installed packages, which serve scripts that virl's own lack."""
    found = []
    for entry in sorted(entry_points(group=INSTALLED), key=lambda one: one.name):
        spec = find_spec(entry.value)
        for folder in (spec.submodule_search_locations if spec else None) or ():
            found += sorted(
                path for path in Path(folder, "files").glob("*.?tf") if "Italic" not in path.name
            )[:1]
    return tuple(str(path) for path in found)


def font_styles(text: str) -> str:
    """Return CSS with the letters of a text that many systems lack, as subsets of the fonts that virl has."""
    return "".join(
        _font_styles({ord(c) for c in set(text) if not any(ord(c) in known for known in EVERYWHERE)})
    )


def _font_styles(missing: set[int]) -> Iterator[str]:
    """Yield a CSS rule for each font file that has some of the code points, each code point once."""
    for face in (CJK_FACE, *SHAPED_FACES, *installed_faces()):
        own = sorted(missing & code_points(face)) if missing else []
        missing = missing.difference(own)
        if own:
            codes = ",".join(f"U+{code:x}" for code in own)
            yield (
                f'@font-face{{font-family:"{FAMILY}";font-weight:400 700;unicode-range:{codes};'
                f"src:url(data:font/woff2;base64,{_subset(face, tuple(own))})}}\n"
            )


@lru_cache(maxsize=64)
def _subset(face: str, codes: tuple[int, ...]) -> str:
    """Return the letters of some code points, and what joins them, of a font file as WOFF2 in Base64."""
    from fontTools import subset  # noqa: PLC0415 - slow to load, and few pages need it

    options = subset.Options(flavor="woff2", hinting=False, layout_features=["*"], notdef_outline=True)
    cut = subset.Subsetter(options)
    cut.populate(unicodes=codes)
    file = io.BytesIO()
    with subset.load_font(str(FONT_FOLDER / face), options) as loaded:
        cut.subset(loaded)
        subset.save_font(loaded, file, options)
    return base64.b64encode(file.getvalue()).decode()


@cache
def code_points(face: str) -> frozenset[int]:
    """Return the Unicode code points of a font file, from its `cmap` table (OpenType 1.9, formats 4, 12)."""
    data = (FONT_FOLDER / face).read_bytes()
    (tables,) = struct.unpack_from(">H", data, 4)
    directory = (struct.unpack_from(">4sLLL", data, 12 + 16 * i) for i in range(tables))
    cmap = next(offset for tag, _, offset, _ in directory if tag == b"cmap")
    (subtables,) = struct.unpack_from(">H", data, cmap + 2)
    found: set[int] = set()
    for i in range(subtables):
        (offset,) = struct.unpack_from(">L", data, cmap + 8 + 8 * i)
        found |= _mapped_codes(data, cmap + offset)
    return frozenset(found)


def _mapped_codes(data: bytes, at: int) -> set[int]:
    """Return the code points of the `cmap` subtable at byte offset `at`; empty for other formats."""
    (kind,) = struct.unpack_from(">H", data, at)
    if kind == 12:
        (groups,) = struct.unpack_from(">L", data, at + 12)
        spans = [struct.unpack_from(">LL", data, at + 16 + 12 * i) for i in range(groups)]
    elif kind == 4:
        (doubled,) = struct.unpack_from(">H", data, at + 6)
        count = doubled // 2
        ends = struct.unpack_from(f">{count}H", data, at + 14)
        starts = struct.unpack_from(f">{count}H", data, at + 16 + doubled)
        spans = [(first, last) for first, last in zip(starts, ends, strict=True) if first != 0xFFFF]
    else:
        return set()
    return {code for first, last in spans for code in range(first, last + 1)}
