"""Make the pictures of the README and of the documentation from runs, towns and pages.

`python docs/make_pictures.py --osm FOLDER [PICTURE ...]` makes all of them, or those named; FOLDER contains
`helsinki.osm.pbf` and `moscow.osm.gz`. Runs stay in `build/pictures`, and are not made again.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from math import atan, degrees, radians, tan
from pathlib import Path

import numpy as np
from PIL import Image

from virl.agent.character_file import agent_names
from virl.film.frames import FoundBox, Sheet, Shot, Size, recorded_shot
from virl.film.story import Moment, read_story
from virl.film.write import write_film
from virl.journal.walk_map import ground_of
from virl.pages.fonts import FONT_FOLDER
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera, relocate
from virl.platform.providers.cities import open_city
from virl.platform.providers.offline.city import draw_plan
from virl.sheets.town import write_sheet
from virl.towns.render.renderer import CityRenderer

IMAGES, WORK = Path(__file__).parent / "images", Path("build/pictures")
HELSINKI, MOSCOW = "helsinki.osm.pbf", "moscow.osm.gz"
FILM, CROP, PAGE, VIEW = (1200, 500), (880, 440), (1280, 1500), (800, 500)
"""Sizes in pixels: of the film, of crops of results, of the tops of pages, and of views."""
FILM_S, FILM_BYTES = 14.0, 1_450_000
LETTERS = 1.5
"""Size of words in crops as a multiple of that in films: pages show crops 270 to 440 pixels wide."""
WIDER = 1.9
"""Width of a view in the film as a multiple of that of the view recorded."""
QUALITY = 80  # of WebP, chosen: letters stay sharp
REGION = "[[41.2488, -38.7515], [41.2488, -38.7485], [41.2512, -38.7485], [41.2512, -38.7515]]"
"""Corners of the part of Virlton that Imani counts in, latitude and longitude; chosen: a minute of a core."""
COMMANDS = {name: f"run {name}" for name in agent_names()} | {
    "hiro": f"run hiro --city {HELSINKI} --at 'Pohjoisesplanadi 33'",
    "hiro-virlton": "run hiro",
    "imani": f"run imani --set 'region={REGION}'",
    "benchmark": "bench place-recognition --limit 40",
    "episodes": "bench touchdown --agent follower --limit 12",
    "town.html": f"town {HELSINKI}",
}
"""Commands of virl that make the folders and pages that are shown, by the folder's name."""
VIRLTON = ((1194, 266.0, 80.0), (2108, 179.0, 80.0), (26, 289.0, 90.0), (1387, 177.0, 85.0))
"""(number of the panorama, heading, field of view in degrees) of each view of Virlton; chosen by eye."""
ADDRESSES = (
    ("Mikonkatu 7", 0.0),
    ("Mikonkatu 7", 180.0),
    ("Kluuvikatu 4", 0.0),
    ("Pohjoisesplanadi 33", 90.0),
)
"""(address, heading in degrees) of each view of Helsinki; chosen by eye."""
FACES = f"""\
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>{FONT_FOLDER}</dir>
</fontconfig>
"""
"""The machine's faces and those of signs, for fontconfig."""


def main() -> None:
    """Make the pictures that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--osm", type=Path, required=True)
    parser.add_argument("pictures", nargs="*", metavar="PICTURE", help=f"by default {', '.join(PICTURES)}")
    asked = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    for name in (HELSINKI, MOSCOW):
        if not (WORK / name).exists():
            (WORK / name).symlink_to((asked.osm / name).resolve())
    os.chdir(WORK)
    for name in asked.pictures or PICTURES:
        picture = PICTURES[name]()
        if picture is not None:
            picture.convert("RGB").save(IMAGES.resolve() / f"{name}.webp", quality=QUALITY, method=6)
        sys.stdout.write(f"{name}\n")


def made(name: str) -> Path:
    """Return the folder that a command makes, which is run if the folder is missing."""
    if not Path(name).exists():
        words = [sys.executable, "-m", "virl", *shlex.split(COMMANDS[name]), "--out", name]
        subprocess.run(words, check=True)  # noqa: S603 - our own command
    return Path(name)


def draw_end(name: str) -> Image.Image:
    """Draw the last picture of the film of a run: its result."""
    story = read_story(made(name))
    sheet = Sheet(story, ground_of(open_city(story.city)), CROP, letters=LETTERS)
    return sheet.draw(len(story.moments) - 1)


def draw_film(name: str) -> None:
    """Write the film of a run in a twin, whose views are drawn anew, wider than they were recorded."""
    story = read_story(made(name))
    city = open_city(story.city)
    sheet = Sheet(story, ground_of(city), FILM, partial(draw_wide, city))
    out = IMAGES.resolve() / f"{name}.webp"
    write_film(sheet, out, seconds=FILM_S, most_bytes=FILM_BYTES, bar=lambda _: nullcontext(lambda: None))


def draw_wide(city: City, moment: Moment) -> Shot:
    """Draw the view of a moment anew for the film's size, with the boxes of what was found."""
    view = moment.view
    if view is None or view.purpose == "photo":
        return recorded_shot(moment)
    fov = 2 * degrees(atan(WIDER * tan(radians(view.fov / 2))))
    then = Camera(view.heading, view.pitch, view.fov, view.width, view.height)
    now = Camera(view.heading, view.pitch, min(fov, 110.0), *FILM)
    # Both look the same way: only the middle of the picture and the size of a pixel differ.
    old, new = ([camera.width / 2, camera.height / 2] * 2 for camera in (then, now))
    found = []
    for one in view.detections:
        if one.box[0] <= 0 or one.box[2] >= view.width:
            continue  # half of a sign, as the view ended there
        box = np.subtract(one.box, old) * now.focal / then.focal + new
        found.append(FoundBox(one.text or one.label, tuple(box.tolist())))
    return Shot(Image.fromarray(city.streetview.view(view.pano_id, now).pixels), tuple(found))


def draw_helsinki(number: int, size: Size) -> Image.Image:
    """Draw a view of Helsinki's twin."""
    city, (address, heading) = open_city(HELSINKI), ADDRESSES[number]
    panorama = relocate(city.streetview, city.maps.geocode(address), address)
    return Image.fromarray(city.streetview.view(panorama.id, Camera(heading, 6.0, 85.0, *size)).pixels)


def draw_four(views: Callable[[int], Image.Image]) -> Image.Image:
    """Draw four views as one picture, two in a row."""
    first, second, third, fourth = (np.asarray(views(number)) for number in range(4))
    return Image.fromarray(np.vstack([np.hstack([first, second]), np.hstack([third, fourth])]))


def draw_virlton(number: int) -> Image.Image:
    """Draw a view of Virlton."""
    plan, (panorama, heading, fov) = draw_plan(1), VIRLTON[number]
    x, y = plan.layout.panoramas.xy[panorama]
    return Image.fromarray(CityRenderer(plan).picture(x, y, Camera(heading, 4.0, fov, *VIEW)))


def draw_street_signs() -> Image.Image:
    """Draw a junction of Virlham, with a plate and signposts."""
    plan = draw_plan(2, "Virlham", ("plates", "signposts"))
    x, y = plan.layout.panoramas.xy[85]
    return Image.fromarray(CityRenderer(plan).picture(x, y, Camera(95.0, 6.0, 60.0, *VIEW)))


def draw_sheet(extract: str) -> Image.Image:
    """Draw twelve views of a town and their map."""
    write_sheet(open_city(extract), Path("sheet.png"), 12)
    sheet = Image.open("sheet.png")
    sheet.thumbnail((1600, 1600), Image.Resampling.LANCZOS)
    return sheet


def photograph(name: str, page: str, size: Size = PAGE, finer: float = 1, without: str = "$^") -> Image.Image:
    """Return the top of a page, without what matches a pattern, as a browser shows it `finer` than usual.

    The browser also finds the faces of virl's own signs: without one for Chinese, Japanese or Korean, it
    would draw boxes for the names of shops.
    """
    browser = shutil.which("chromium")
    if browser is None:
        sys.exit("chromium is missing: run `make web-deps`")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with tempfile.TemporaryDirectory() as folder:
        faces, shot, copy = (Path(folder) / file for file in ("fonts.conf", "page.png", "page.html"))
        faces.write_text(FACES, encoding="utf-8")
        # A browser without a screen does not wait for pictures that are decoded beside the page.
        words = (made(name) / page).read_text(encoding="utf-8")
        copy.write_text(re.sub(f' decoding="async"|{without}', "", words), encoding="utf-8")
        options += ["--hide-scrollbars", f"--window-size={size[0]},{size[1]}", f"--screenshot={shot}"]
        options += [f"--force-device-scale-factor={finer}"]
        subprocess.run(  # noqa: S603 - our own page
            [browser, *options, copy.as_uri()],
            check=True,
            capture_output=True,
            env=os.environ | {"FONTCONFIG_FILE": str(faces)},
        )
        with Image.open(shot) as taken:
            return taken.convert("RGB")


def crop_top(name: str, page: str) -> Image.Image:
    """Return the result and the chart at the top of a narrow page: small pictures of it can be read."""
    return photograph(name, page, (640, 320), CROP[0] / 640, r'<p class="(lead|dim)">.*?</p>')


PICTURES: Mapping[str, Callable[[], Image.Image | None]] = {
    "hiro": partial(draw_film, "hiro"),
    **{f"result-{name}": partial(draw_end, name) for name in agent_names()},
    "result-town": partial(draw_helsinki, 0, CROP),
    "result-benchmark": partial(crop_top, "benchmark", "report.html"),
    "report": partial(photograph, "hiro-virlton", "report.html"),
    "town-page": partial(photograph, "town.html", ""),
    "episodes": partial(photograph, "episodes", "report.html"),
    "helsinki": partial(draw_four, partial(draw_helsinki, size=(640, 400))),
    "virlton": partial(draw_four, draw_virlton),
    "street-signs": draw_street_signs,
    "town-helsinki": partial(draw_sheet, HELSINKI),
    "town-moscow": partial(draw_sheet, MOSCOW),
}
"""Makers of pictures by the picture's name; one that returns none writes its own file."""


if __name__ == "__main__":
    main()
