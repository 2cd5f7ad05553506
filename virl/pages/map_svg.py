"""Maps as SVG: as elements of a page, which has the style of maps, and as files that contain the style."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from markupsafe import Markup

from virl.pages.ground import AREAS, Name
from virl.pages.maps import NOTICE, MapFigure, MapPath
from virl.pages.marks import Mark
from virl.pages.paper import Paper, svg_points
from virl.pages.symbols import symbols
from virl.pages.theme import CASING_PX, EDGES_UP_TO_M, ROADS, light_style, shapes
from virl.plain_text import html_line

_FAN = "M0 0L-24-24A34 34 0 0 1 24-24z"
_ARROW = "M-4 4L0-4L4 4L0 1.5z"
_TITLE, _GAP = 32, 20  # pixels above each drawing, and between them
_SIGN_DOWN = 3.8  # pixels from the middle of a shape to the foot of its sign


def draw_svg(figure: MapFigure, name: str = "") -> Markup:
    """Return a map as an `svg` element that needs no scripts; `name` is its id, empty for none."""
    role = "group" if any(mark.href for mark in figure.marks) else "img"
    label = f'id="{html_line(name)}" ' if name else ""
    start = f'<svg class="chart" viewBox="{view_box(figure.paper)}" {label}role="{role}"'
    title = f'aria-label="{html_line(figure.title)}, north up"'
    return Markup(f"{start} {title}>{draw_inside(figure)}</svg>")  # noqa: S704 - texts are escaped


def draw_whole(figures: Sequence[MapFigure], notice: str = "") -> str:
    """Return maps, at least one, side by side with titles as an SVG file in light colours.

    The notice, such as the credits of the city's data, stands below them.
    """
    from virl.pages.fonts import font_styles  # noqa: PLC0415 - needs Pillow, which lists do not load

    panels, left = [], 0.0
    for figure in figures:
        paper = figure.paper
        size = f'width="{paper.across:.0f}" height="{paper.height / paper.pixel:.0f}"'
        land = (
            f'<rect class="land" x="{paper.left:.2f}" y="{paper.top:.2f}" width="{paper.width:.2f}" '
            f'height="{paper.height:.2f}"/>'
        )
        panels.append(
            f'<text class="heading" x="{left + 8:.0f}" y="20">{html_line(figure.title)}</text>'
            f'<svg class="chart" x="{left:.0f}" y="{_TITLE}" {size} viewBox="{view_box(paper)}">'
            f"{land}{draw_inside(figure)}</svg>"
        )
        left += paper.across + _GAP
    tallest = max(figure.paper.height / figure.paper.pixel for figure in figures)
    height = _TITLE + tallest + (_TITLE if notice else 0)
    title, words = html_line(", ".join(figure.title for figure in figures)), html_line(notice)
    credit = f'<text class="notice" x="8" y="{height - 10:.0f}">{words}</text>' if notice else ""
    box = f'width="{left - _GAP:.0f}" height="{height:.0f}" viewBox="0 0 {left - _GAP:.0f} {height:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img"><title>{title}, north up</title>'
        f"<desc>{words}</desc><style>{light_style()}{font_styles(title + words + ''.join(panels))}</style>"
        f"{''.join(panels)}{credit}</svg>"
    )


def view_box(paper: Paper) -> str:
    """Return the value of SVG's attribute `viewBox` for a paper: "left top width height" in metres."""
    return f"{paper.left:.2f} {paper.top:.2f} {paper.width:.2f} {paper.height:.2f}"


def draw_inside(figure: MapFigure) -> str:
    """Return the SVG of all parts of a map, from the ground to the scale bar."""
    paper = figure.paper
    names = "".join(_name(paper, name, has_room=has_room) for name, has_room in figure.names)
    marks = "\n".join(_mark(paper, mark) for mark in figure.marks)
    foot = 14 + (NOTICE if figure.notice else 0)
    x, y = paper.left + 14 * paper.pixel, paper.top + paper.height - foot * paper.pixel
    scale = f'<text class="label scale" y="-6">{paper.scale_words}</text>'
    return (
        f'\n<g class="ground">{"".join(_ground(paper))}</g>\n'
        f'<g class="symbols">{"".join(_symbols(figure))}</g>\n'
        f'<g class="names">{names}</g>\n'
        f'<g class="trails">{"".join(_path(paper, path) for path in figure.paths)}</g>\n'
        f'<g class="marks">\n{marks}\n</g>\n'
        f'<g class="scale-bar"><path d="M{x:.2f} {y:.2f}h{paper.scale_m}"/>'
        f"<g {pixel_group(paper, x, y)}>{scale}</g></g>\n"
    )


def _ground(paper: Paper) -> Iterator[str]:
    """Yield the SVG path of each part of the ground, in drawing order."""
    for part in ground_parts(paper):
        far = " far" if part["kind"] == "house" and paper.pixel > EDGES_UP_TO_M else ""
        sizes = ""
        if "metres" in part:
            metres, least, edge = (float(part[name]) for name in ("metres", "least", "edge"))
            width = max(metres, least * paper.pixel) + 2 * edge * paper.pixel
            sizes = (
                f' data-metres="{metres}" data-least="{least}" data-edge="{edge}" stroke-width="{width:.2f}"'
            )
        yield f'<path class="{part["kind"]}{far}" fill-rule="evenodd" d="{part["data"]}"{sizes}/>'


def _symbols(figure: MapFigure) -> Iterator[str]:
    """Yield the SVG of a map's symbols: for each kind a path with a marker at every place with room.

    All places, also those that have room only when readers zoom in, stand in `data-all`.
    """
    paper = figure.paper
    own = zlib.crc32(f"{figure.title} {view_box(paper)}".encode())
    for name in dict.fromkeys(name for name, *_ in paper.places):
        places = " ".join(f"{x:g},{y:g}" for kind, x, y in paper.places if kind == name)
        points = " ".join(f"{x:g},{y:g}" for x, y in figure.symbols.get(name, ()))
        marker = f"{name}-{own:x}"
        ends = f'marker-start="url(#{marker})" marker-mid="url(#{marker})" stroke-width="{paper.pixel:.4g}"'
        yield (
            f'<marker id="{marker}" viewBox="-9 -9 18 18" markerWidth="18" markerHeight="18">'
            f'{symbol_svg(name)}</marker><path class="symbol" {ends} '
            f'd="{points and f"M{points}h0"}" data-all="{places}"/>'
        )


def symbol_svg(name: str) -> str:
    """Return a symbol of places as an SVG path, in pixels around its point."""
    return f'<path class="glyph at-{name}" d="{symbols()[name].path}"/>'


def draw_legend(figure: MapFigure) -> Markup:
    """Return the legend of a map as a list, each line with what the map shows; empty without lines."""
    shapes_of = _shapes_of(figure)
    # Those of symbols that have no room here are shown by the script where they are drawn.
    unseen = {name: None for name, *_ in figure.paper.places if name not in figure.symbols}
    lines = []
    for kind, words in (*figure.legend, *((f"symbol {name}", symbols()[name].legend) for name in unseen)):
        first, _, last = kind.rpartition(" ")
        if first == "symbol":
            drawn = symbol_svg(last)
        elif first == "line":
            drawn = f'<g class="trail {html_line(last)}"><path class="path" d="M-9 0H9"/></g>'
        elif last in AREAS:
            drawn = f'<rect class="{last}" x="-7" y="-5" width="14" height="10"/>'
        else:
            shape = "pin" if first == "pin" else shapes_of.get(last, "disc")
            down = 13 if shape == "pin" else 0
            drawn = (
                f'<g class="mark {html_line(kind)}" transform="translate(0 {down})">{shape_svg(shape)}</g>'
            )
        swatch = f'<svg class="chart swatch" viewBox="-13 -13 26 26" aria-hidden="true">{drawn}</svg>'
        hidden = " hidden" if first == "symbol" and last in unseen else ""
        lines.append(f"<li{hidden}>{swatch}{html_line(words)}</li>")
    return Markup(f'<ul class="legend">{"".join(lines)}</ul>' if lines else "")  # noqa: S704 - texts are escaped


def legend_data(figure: MapFigure) -> list[tuple[str, str, str]]:
    """Return the lines of a map's legend but for symbols and areas, each as (classes, shape, words)."""
    shapes_of = _shapes_of(figure)
    told = [one for one in figure.legend if not one[0].startswith("symbol") and one[0] not in AREAS]
    return [(kind, shapes_of.get(kind.split()[-1], "disc"), words) for kind, words in told]


def _shapes_of(figure: MapFigure) -> Mapping[str, str]:
    """Return the shape of the marks on a map, but for pins, by the last of their style classes."""
    own = (mark for mark in figure.marks if mark.shape != "pin" and not mark.is_group)
    return {mark.kind.split()[-1]: mark.shape for mark in own}


def ground_parts(paper: Paper) -> Iterator[Mapping[str, str | float]]:
    """Yield the shapes of the ground in drawing order as plain data: `kind`, and SVG path `data`.

    Roads also have their width in `metres`, the `least` width in pixels, and pixels of `edge`.
    """
    roads = []
    for layer in paper.layers:
        if layer.kind in ROADS:
            roads.append((layer.data, *ROADS[layer.kind]))
        else:
            yield {"kind": layer.kind, "data": layer.data}
    # All edges lie below all surfaces, so that no line crosses a road where another joins it.
    for kind, edge in (("casing", CASING_PX), ("road", 0.0)):
        for data, metres, least in roads:
            yield {"kind": kind, "data": data, "metres": metres, "least": least, "edge": edge}


def ground_data(paper: Paper) -> dict[str, object]:
    """Return the ground of a map as plain data for the pages' scripts: its layers, names and symbols."""
    kinds = dict.fromkeys(name for name, *_ in paper.places)
    return {
        "layers": list(ground_parts(paper)),
        "names": [asdict(name) for name in paper.names],
        "symbols": [
            {
                "name": kind,
                "shape": symbols()[kind].path,
                "legend": symbols()[kind].legend,
                "places": [[x, y] for name, x, y in paper.places if name == kind],
            }
            for kind in kinds
        ],
    }


def figure_data(figure: MapFigure) -> dict[str, object]:
    """Return a whole map as plain data for the pages' scripts: ground, paths, marks, and two corners."""
    paper = figure.paper
    return ground_data(paper) | {
        "paths": [{"points": path.points, "kind": path.kind} for path in figure.paths],
        "marks": [mark_data(mark) for mark in figure.marks if not mark.is_group],  # scripts join anew
        "corners": [(paper.left, paper.top), (paper.left + paper.width, paper.top + paper.height)],
    }


def mark_data(mark: Mark) -> dict[str, object]:
    """Return a mark as plain data for the pages' scripts, without empty fields."""
    known = {
        name: value for name, value in asdict(mark).items() if value not in ("", None, False, 0.0, (0.0, 0.0))
    }
    return known | {"x": round(mark.x, 2), "y": round(mark.y, 2)}


def _name(paper: Paper, name: Name, *, has_room: bool) -> str:
    """Return the SVG text of a street's or area's name, hidden without `has_room` until zoomed in."""
    hidden = "" if has_room else " no-room"
    place = pixel_group(paper, name.x, name.y)
    if hidden:  # without scripts it is never seen: no need to say where it would be drawn
        place = place.partition(" transform")[0]
    group = f'<g {place} data-room="{name.room:.0f}">'
    where = f'y="{4 + name.aside:g}" transform="rotate({name.turn:.0f})"'
    words = f'<text class="name {name.kind}-name{hidden}" {where}>'
    return f"{group}{words}{html_line(name.text)}</text></g>"


def _path(paper: Paper, path: MapPath) -> str:
    """Return the SVG of a path with its arrows."""
    points = svg_points(path.points, 1 if paper.pixel > 0.5 else 2)
    title = f"<title>{html_line(path.label)}</title>" if path.label else ""
    arrows = "".join(
        f'<g {pixel_group(paper, one.x, one.y)}><path class="arrow" '
        f'transform="rotate({one.heading:.0f})" d="{_ARROW}"/></g>'
        for one in path.arrows
    )
    return (
        f'<g class="trail {html_line(path.kind)}">{title}<polyline class="path halo" points="{points}"/>'
        f'<polyline class="path" points="{points}"/>{arrows}</g>'
    )


def _mark(paper: Paper, mark: Mark) -> str:
    """Return the SVG of a mark; as a link if it has an address."""
    title = html_line(mark.title)
    kind = html_line(mark.kind) + " joined" * mark.is_joined + " group" * mark.is_group
    tag, attributes = "g", f'class="mark {kind}" role="img"'
    if mark.href:
        order = ' tabindex="-1"' if mark.is_minor else ""
        tag, attributes = "a", f'href="{html_line(mark.href)}" class="mark {kind}"{order}'
    return (
        f'<{tag} {attributes} aria-label="{title}"><title>{title}</title>'
        f"<g {pixel_group(paper, mark.x, mark.y)}>{''.join(_mark_parts(mark))}</g></{tag}>"
    )


def _mark_parts(mark: Mark) -> Iterator[str]:
    """Yield the SVG of a mark's parts, in pixels around its point."""
    if mark.heading is not None:
        yield f'<path class="sector" transform="rotate({mark.heading:.0f})" d="{_FAN}"/>'
    x, y = mark.shift
    yield f'<path class="leader" d="M0 0L{x:.1f} {y:.1f}"/>'
    fixed = "" if mark.is_movable else " fixed"
    yield f'<g class="body{fixed}" transform="translate({x:.1f} {y:.1f})">'
    if mark.href:
        yield '<circle class="hit" r="15"/>'
    yield shape_svg(mark.shape)
    if mark.sign:
        long = " long" if len(mark.sign) > 2 and not mark.is_group else ""
        y = _SIGN_DOWN - (17 if mark.shape == "pin" else 0)
        yield f'<text class="sign{long}" y="{y:g}">{html_line(mark.shown_sign)}</text>'
    if mark.label:
        side = mark.side
        where = f' {side.name}" x="{side.x:g}" y="{side.y:g}"' if side else ' no-room"'
        yield f'<text class="label{where}>{html_line(mark.shown_label)}</text>'
    yield "</g>"


def shape_svg(shape: str) -> Markup:
    """Return a mark's shape as a `circle` or `polygon` element, in pixels around its point."""
    known = shapes()[shape]
    if isinstance(known, tuple):
        corners = " ".join(f"{x:g},{y:g}" for x, y in known)
        return Markup(f'<polygon class="seen" points="{corners}"/>')  # noqa: S704 - numbers
    return Markup(f'<circle class="seen" r="{known:g}"/>')  # noqa: S704 - numbers


def pixel_group(paper: Paper, x: float, y: float) -> str:
    """Return the attributes of an SVG group that is drawn in pixels around a point (x, y) in metres.

    Args:
        paper: the paper of the map.
        x: metres east of the frame's origin.
        y: metres south of the frame's origin.
    """
    digits = 1 if paper.pixel > 0.5 else 2
    at = f"{x:.{digits}f}", f"{y:.{digits}f}"
    moved = f"translate({at[0]} {at[1]}) scale({paper.pixel:.4g})"
    return f'class="scaled" data-x="{at[0]}" data-y="{at[1]}" transform="{moved}"'
