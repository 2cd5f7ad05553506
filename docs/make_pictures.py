"""Make the pictures of the documentation from finished runs.

`python docs/make_pictures.py --walk RUN`: four views of Virlton, and the map of RUN, a folder of Hiro's.
`python docs/make_pictures.py --town FILE.osm.pbf`: four views of Helsinki's extract.
`python docs/make_pictures.py PAGE.html PICTURE.webp`: the top of a page, such as the report of a run.
`docs/gallery.md` has the command of each run; `docs/animate_run.py` makes the animated pictures.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from virl.geo.globe import LocalFrame
from virl.journal.journal import read_journal
from virl.journal.records import StepRecord
from virl.journal.walk_map import ends_of, ground_of, walked_path
from virl.pages.fonts import FONT_FOLDER
from virl.pages.map_picture import draw_picture
from virl.pages.maps import map_figure
from virl.pages.paper import Extent, lay_out, on_paper
from virl.platform.city.streetview import Camera, relocate
from virl.platform.providers.cities import open_city
from virl.platform.providers.offline.city import draw_plan
from virl.towns.plan.town_plan import CityPlan
from virl.towns.render.renderer import CityRenderer

IMAGES = Path(__file__).parent / "images"
SEED = 1  # Virlton's
# Panorama number, heading, pitch and fov of four views, chosen by eye.
VIEWS = [(1194, 266.0, 4.0, 80.0), (2108, 179.0, 4.0, 80.0), (26, 289.0, 4.0, 90.0), (1387, 177.0, 4.0, 85.0)]
STREET_SIGNS_HEADING = 95.0  # down Mercer Street
HELSINKI = (
    ("Mikonkatu 7", 0.0),
    ("Mikonkatu 7", 180.0),
    ("Kluuvikatu 4", 0.0),
    ("Pohjoisesplanadi 33", 90.0),
)
"""An address and a heading of each view of Helsinki, chosen by eye."""
MAP_PX = 1200  # across
QUALITY = 82  # of WebP, chosen: letters stay sharp
FACES = f"""\
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>{FONT_FOLDER}</dir>
</fontconfig>
"""
"""The machine's faces and those of signs, for fontconfig."""


def draw_views(plan: CityPlan) -> None:
    """Draw the four views."""
    renderer = CityRenderer(plan)
    for number, (panorama, heading, pitch, fov) in enumerate(VIEWS, 1):
        x, y = plan.layout.panoramas.xy[panorama]
        pixels = renderer.picture(x, y, Camera(heading, pitch, fov, 800, 500))
        Image.fromarray(pixels).save(IMAGES / f"view-{number}.webp", quality=QUALITY)


def draw_street_signs() -> None:
    """Draw a junction of Virlham, with a plate and signposts."""
    plan = draw_plan(2, "Virlham", ("plates", "signposts"))
    x, y = plan.layout.panoramas.xy[85]
    pixels = CityRenderer(plan).picture(x, y, Camera(STREET_SIGNS_HEADING, 6.0, 60.0, 800, 500))
    Image.fromarray(pixels).save(IMAGES / "street-signs.webp", quality=QUALITY)


def draw_town(extract: Path) -> None:
    """One picture of four views of Helsinki, with the names of those whose data they show."""
    city = open_city(str(extract))
    views = []
    for address, heading in HELSINKI:
        panorama = relocate(city.streetview, city.maps.geocode(address), address)
        views.append(city.streetview.view(panorama.id, Camera(heading, 4.0, 85.0, 640, 400)).pixels)
    sheet = Image.fromarray(np.vstack([np.hstack(views[:2]), np.hstack(views[2:])]))
    pen = ImageDraw.Draw(sheet)
    pen.rectangle((0, sheet.height - 24, 10 + 8 * len(city.attribution), sheet.height), fill="#000000")
    pen.text((6, sheet.height - 20), city.attribution, fill="#ffffff", font=ImageFont.load_default(14))
    sheet.save(IMAGES / "helsinki.webp", quality=QUALITY)


def draw_map(run: Path) -> Image.Image:
    """Draw the town, its restaurants, and the walk of a run."""
    city = open_city("virlton")
    ground = ground_of(city)
    steps = [record for record in read_journal(run) if isinstance(record, StepRecord)]
    frame = LocalFrame(city.center)
    corners = [on_paper(frame, *position) for way in ground.ways for position in way.line]
    aspect = float(np.divide(*np.ptp(corners, axis=0)))
    paper = lay_out(frame, corners, ground, extent=Extent(aspect, beyond=0.0), across=MAP_PX)
    figure = map_figure("Virlton", paper, [walked_path(steps, paper, arrows=False)], ends_of(steps, frame))
    return draw_picture(figure, MAP_PX)


def photograph(page: Path, picture: Path) -> None:
    """Return the top of a page as a browser shows it, which also finds the faces of virl's own signs.

    A machine without a face for Chinese, Japanese or Korean would draw boxes for the names of shops.
    """
    browser = shutil.which("chromium")
    if browser is None:
        sys.exit("chromium is missing: run `make web-deps`")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with tempfile.TemporaryDirectory() as folder:
        faces = Path(folder) / "fonts.conf"
        faces.write_text(FACES, encoding="utf-8")
        shot = Path(folder) / "page.png"
        subprocess.run(  # noqa: S603 - our own page
            [
                browser,
                *options,
                "--hide-scrollbars",
                "--window-size=1280,1500",
                f"--screenshot={shot}",
                page.resolve().as_uri(),
            ],
            check=True,
            capture_output=True,
            env=os.environ | {"FONTCONFIG_FILE": str(faces)},
        )
        with Image.open(shot) as taken:
            taken.convert("RGB").save(picture, quality=QUALITY, method=6)


if __name__ == "__main__":
    first, second = sys.argv[1:3]
    if first == "--walk":
        town = draw_plan(SEED)
        draw_views(town)
        draw_street_signs()
        draw_map(Path(second)).save(IMAGES / "map.webp", quality=QUALITY, method=6)
    elif first == "--town":
        draw_town(Path(second))
    else:
        photograph(Path(first), Path(second))
