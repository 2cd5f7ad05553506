"""A run made up for tests: candidates are weighed without a step, and every sort of exhibit is shown."""

from pathlib import Path

from made_run import FRAME, start_record

from virl.journal.journal import Journal
from virl.journal.records import CostRecord, EndRecord, ExchangeRecord, NoteRecord, Result
from virl.pages.exhibits import (
    Bar,
    BarsExhibit,
    Curve,
    CurvesExhibit,
    Exhibit,
    MapExhibit,
    MapLine,
    MapPoint,
    TableExhibit,
    TextExhibit,
)
from virl.plain_text import plain_line

CANDIDATES = {
    "Noodle Bar Mei": (8, (60.0, 40.0)),
    "Bella Napoli": (5, (120.0, 70.0)),
    "The Ladle": (3, (10.0, 90.0)),
}


def made_exhibits(name: str = "Noodle Bar Mei") -> tuple[Exhibit, ...]:
    rows = tuple(
        (name if label == "Noodle Bar Mei" else label, rating, 3.25)
        for label, (rating, _) in CANDIDATES.items()
    )
    points = [
        MapPoint(lat=lat, lng=lng, label=label, text=f"rated {rating}", mark=str(number), style=style)
        for number, ((label, rating, _), (_, where), style) in enumerate(
            zip(rows, CANDIDATES.values(), ("pick", "candidate", "candidate"), strict=True), start=1
        )
        for lat, lng in [FRAME.position(*where)]
    ]
    start = MapPoint(lat=FRAME.origin.lat, lng=FRAME.origin.lng, label="Start", style="start")
    way = tuple(tuple(FRAME.position(x, y)) for x, y in ((0, 0), (40, 6), (60, 40)))
    return (
        MapExhibit(
            title=f"Where {name} is",
            points=(start, *points),
            lines=(MapLine(points=way, label=f"the way to {name}"), MapLine(points=way[::-1], style="other")),
        ),
        BarsExhibit(
            title="Ratings",
            unit="of 10",
            bars=tuple(Bar(label=row[0], value=row[1], picked=row[0] == name) for row in rows),
        ),
        TableExhibit(
            title="Candidates",
            columns=("place", "rating", "minutes", "why"),
            rows=tuple((*row, name) for row in rows),
            picked=0,
            note=name,
        ),
        CurvesExhibit(
            title="How it feels",
            unit="points",
            points=tuple(f"{hour}:00" for hour in range(8, 20)),
            curves=(
                Curve(name=name, values=(80, 75, 60, None, 55, 90, 88, 80, 70, 64, 50, 45)),
                Curve(name="energy", values=(90, 85, 80, 72, 66, 60, 70, 62, 50, 44, 38, 30)),
            ),
            low=0,
            high=100,
        ),
        TextExhibit(title="Why", text=f"{name} fits.\nIt is near.\n\nThe others are dear."),
        MapExhibit(title="Nothing"),
    )


def keep_made_choice(folder: Path, name: str = "Noodle Bar Mei") -> Path:
    """Write the run into `folder`."""
    start = start_record(name="Aria").model_copy(update={"agent": "aria"})
    asked = ExchangeRecord(
        prompt="rate-place",
        mind="rules",
        inputs={"place": name},
        reply={"rating": 8, "reason": f"{name} is mild."},
    )
    result = Result(
        agent="aria",
        city="testville",
        status="finished",
        steps=0,
        distance_m=0,
        answer={"pick": name},
        files=("plan.md", plain_line(Path(name).name).replace("\\", "") + ".ics"),
        reason=f"{name} fits best.",
        cost=CostRecord(),
        versions={"virl": "0.1.0"},
    )
    with Journal.create(folder, start) as journal:
        journal.append(
            NoteRecord(
                seq=1,
                topic="candidate",
                key=name,
                text=f"{name}: 8 of 10.",
                data={"rating": 8},
                asked=(asked,),
            )
        )
        journal.append(
            NoteRecord(
                seq=2,
                topic="consultation",
                key="meal",
                text="Asked where to eat.",
                data={"agent": "hiro", "folder": "consulted/meal", "result": {}},
                cost=CostRecord(usd=0.25, llm_calls=3, seconds=12),
            )
        )
        journal.append(EndRecord(seq=3, result=result, exhibits=made_exhibits(name)))
    nested = folder / "consulted" / "meal"
    nested.mkdir(parents=True)
    (nested / "report.html").write_text("<title>Hiro</title>")
    return folder
