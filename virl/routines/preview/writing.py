"""The files of a preview: a page that a screen reader reads well, plain text to be spoken, GPX and JSON."""

from pathlib import Path
from xml.etree import ElementTree as ET  # nosec B405

from virl.drawing.shell import html_page, open_templates
from virl.geo import LatLng
from virl.plain_text import plain_line
from virl.routines.preview.facts import Fact, WayPreview
from virl.routines.preview.telling import PEOPLE, fact_sentence, leg_sentences, metres, summary
from virl.version import __version__

PAGE, SPEECH, GPX, JSON = "preview.html", "preview.txt", "preview.gpx", "preview.json"
_TEMPLATES = Path(__file__).parent / "templates"
_GPX = "http://www.topografix.com/GPX/1/1"


def page(preview: WayPreview) -> str:
    """The page: headings, lists and one table; no pictures and no scripts."""
    return html_page(
        open_templates(_TEMPLATES, filters={"metres": metres, "plain": plain_line}),
        "preview.html.j2",
        {
            "preview": preview,
            "people": PEOPLE[preview.profile],
            "summary": summary(preview),
            "legs": [(leg, leg_sentences(leg, preview.profile)) for leg in preview.legs],
            "version": __version__,
        },
        styles=("preview.css",),
    )


def gpx(preview: WayPreview, points: list[LatLng]) -> str:
    """The way as a track, with a waypoint for each fact."""
    ET.register_namespace("", _GPX)
    root = ET.Element(f"{{{_GPX}}}gpx", version="1.1", creator=f"virl {__version__}")
    for leg in preview.legs:
        for fact in leg.facts:
            point = ET.SubElement(root, f"{{{_GPX}}}wpt", _degrees(fact.lat, fact.lng))
            ET.SubElement(point, f"{{{_GPX}}}name").text = _name(fact)
            ET.SubElement(point, f"{{{_GPX}}}desc").text = fact_sentence(fact)
    track = ET.SubElement(root, f"{{{_GPX}}}trk")
    title = f"{preview.start} to {preview.destination}"
    ET.SubElement(track, f"{{{_GPX}}}name").text = plain_line(title)
    segment = ET.SubElement(track, f"{{{_GPX}}}trkseg")
    for at in points:
        ET.SubElement(segment, f"{{{_GPX}}}trkpt", _degrees(at.lat, at.lng))
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _name(fact: Fact) -> str:
    return plain_line(fact.name) if fact.name else fact.kind


def _degrees(lat: float, lng: float) -> dict[str, str]:
    return {"lat": f"{lat:.7f}", "lon": f"{lng:.7f}"}
