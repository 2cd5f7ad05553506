"""A run that goes on wherever it was killed: `python writer.py FOLDER STEPS [PAUSE]`.

With PAUSE it stands still once the journal holds so many records, to be killed there at the latest.
"""

import sys
import time
from pathlib import Path

import numpy as np

from virl.journal.journal import Journal
from virl.journal.records import (
    AnyRecord,
    CostRecord,
    EndRecord,
    PoseRecord,
    Result,
    StartRecord,
    StepRecord,
    ViewRecord,
)


def start_record() -> StartRecord:
    return StartRecord(virl="0", agent="a", city="c", mind="rules", seed=0, started="", character={})


def step_record(seq: int, file: str) -> StepRecord:
    view = ViewRecord(file=file, pano_id="p", heading=0, pitch=0, fov=90, width=32, height=24)
    pose = PoseRecord(pano_id=f"p{seq}", heading=0, lat=0, lng=0)
    decided = "on " * (seq % 900)  # lines of many lengths
    return StepRecord(seq=seq, step=seq - 1, pose=pose, distance_m=1, views=(view,), decided=decided)


def end_record(seq: int) -> EndRecord:
    result = Result(
        agent="a",
        city="c",
        status="stopped",
        steps=seq,
        distance_m=0,
        reason="",
        cost=CostRecord(),
        versions={},
    )
    return EndRecord(seq=seq, result=result)


def write(journal: Journal, steps: int, pause: int | None = None) -> None:
    while not journal.is_over:
        seq = journal.next_seq
        if seq == pause:
            time.sleep(60)
        if seq > steps:
            journal.append(end_record(seq))
        else:
            pixels = np.full((24, 32, 3), seq % 256, np.uint8)
            journal.append(step_record(seq, journal.keep_view(f"{seq:04d}", pixels)))


def main(folder: Path, steps: int, pause: int | None = None) -> None:
    if (folder / "journal.jsonl").exists():
        journal = Journal.resume(folder)[0]
    else:
        journal = Journal.create(folder, start_record())
    sys.stdout.write("writing\n")
    sys.stdout.flush()
    with journal:
        write(journal, steps, pause)


def expected(steps: int) -> list[AnyRecord]:
    middle = [step_record(seq, f"views/{seq:04d}.jpg") for seq in range(1, steps + 1)]
    return [start_record(), *middle, end_record(steps + 1)]


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
