"""Answers of the Overpass API, as JSON and as OpenStreetMap XML."""

from collections.abc import Iterator
from html import escape
from typing import Any

from servers.overpass.elements import Chosen, Elements
from servers.overpass.queries import Kind, Out, Query

GENERATOR = "Overpass API 0.7.62.8 of virl"
COPYRIGHT = (
    "The data included in this document is from www.openstreetmap.org. The data is made available under ODbL."
)
_KINDS: tuple[Kind, ...] = ("node", "way", "relation")


def as_json(elements: Elements, query: Query, remark: str = "") -> dict[str, Any]:
    """The answer to a query with `[out:json]`; with a remark, there are no elements."""
    about = {"timestamp_osm_base": elements.date, "copyright": COPYRIGHT}
    written = (
        []
        if remark
        else [one for out, chosen in elements.answer(query) for one in _each(elements, out, chosen)]
    )
    whole = {"version": 0.6, "generator": GENERATOR, "osm3s": about, "elements": written}
    return whole | ({"remark": remark} if remark else {})


def as_xml(elements: Elements, query: Query, remark: str = "") -> str:
    """The answer to a query with `[out:xml]`; with a remark, there are no elements."""
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<osm version="0.6" generator="{GENERATOR}">',
        f"<note>{COPYRIGHT}</note>",
        f'<meta osm_base="{elements.date}"/>',
        "",
    ]
    if query.box:
        names = ("minlat", "minlon", "maxlat", "maxlon")
        edges = " ".join(f'{name}="{edge:g}"' for name, edge in zip(names, query.box.degrees, strict=True))
        parts += [f"  <bounds {edges}/>", ""]
    if remark:
        parts.append(f"<remark> {remark} </remark>")
    else:
        for out, chosen in elements.answer(query):
            parts += [_element(one) for one in _each(elements, out, chosen)]
    return "\n".join([*parts, "</osm>", ""])


def _each(elements: Elements, out: Out, chosen: Chosen) -> Iterator[dict[str, Any]]:
    every = [(kind, number) for kind in _KINDS for number in sorted(chosen[kind])]
    for kind, number in every[: out.most]:
        yield _written(elements, out, kind, number)


def _written(elements: Elements, out: Out, kind: Kind, number: int) -> dict[str, Any]:
    one: dict[str, Any] = {"type": kind, "id": number}
    if kind == "node" and (out.level not in {"ids", "tags"} or out.geometry):
        one |= {"lat": elements.nodes[number].lat, "lon": elements.nodes[number].lng}
    bounds = elements.bounds(kind, number) if out.geometry and kind != "node" else None
    if bounds and out.geometry == "center":
        south, west, north, east = bounds
        one["center"] = {"lat": round((south + north) / 2, 7), "lon": round((west + east) / 2, 7)}
    elif bounds:
        one["bounds"] = dict(zip(("minlat", "minlon", "maxlat", "maxlon"), bounds, strict=True))
    if out.level in {"skel", "body", "meta"}:
        if kind == "way":
            one["nodes"] = list(elements.ways[number].nodes)
        elif kind == "relation":
            members = elements.relations[number].members
            one["members"] = [{"type": type_, "ref": ref, "role": role} for type_, ref, role in members]
    if out.geometry == "geom" and kind == "way":
        one["geometry"] = [{"lat": node.lat, "lon": node.lng} for node in elements.path(number)]
    tags = elements.tags(kind, number)
    if tags and out.level in {"body", "tags", "meta"}:
        one["tags"] = dict(tags)
    return one


def _element(one: dict[str, Any]) -> str:
    where = f' lat="{one["lat"]:.7f}" lon="{one["lon"]:.7f}"' if "lat" in one else ""
    inside = [f'    <nd ref="{ref}"/>' for ref in one.get("nodes", ())]
    inside += [
        f'    <member type="{part["type"]}" ref="{part["ref"]}" role="{escape(part["role"])}"/>'
        for part in one.get("members", ())
    ]
    inside += [
        f'    <tag k="{escape(key)}" v="{escape(text)}"/>' for key, text in one.get("tags", {}).items()
    ]
    head = f'  <{one["type"]} id="{one["id"]}"{where}'
    return "\n".join([f"{head}>", *inside, f"  </{one['type']}>"]) if inside else f"{head}/>"
