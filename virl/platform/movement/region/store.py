"""The file of a survey: grows by a line for each batch, so that what was killed asks nothing twice."""

from pathlib import Path

from virl.errors import BadInput
from virl.files import JsonLines
from virl.platform.movement.region.records import FORMAT, RECORD, Batch, Ordered, SurveyPlan


class SurveyStore:
    """Batches and orders of one plan, in memory and, with a file, on disk.

    A last line that was cut off, as a kill leaves it, is dropped.

    Args:
        plan: of the survey.
        file: where it is kept; made where it is missing. `None` keeps nothing.

    Raises:
        BadInput: the file holds something else, or the survey of another plan.
        CannotWrite: the disk refuses.
    """

    def __init__(self, plan: SurveyPlan, file: Path | None = None) -> None:
        self._lines = None if file is None else JsonLines(file, "continue the survey", sync=False)
        self._batches: list[Batch] = []
        self._orders: list[Ordered] = []
        if self._lines is not None:
            self._read(self._lines, plan)
            if not self._lines.count:
                self._lines.append(plan.model_dump_json())

    @property
    def batches(self) -> tuple[Batch, ...]:
        """What was asked, in order."""
        return tuple(self._batches)

    @property
    def orders(self) -> tuple[Ordered, ...]:
        """The walks ordered, the latest last."""
        return tuple(self._orders)

    def add(self, record: Batch | Ordered) -> None:
        """Keep a record; a kill after this returns does not lose it.

        Raises:
            CannotWrite: the disk refuses; nothing is kept.
        """
        if self._lines is not None:
            self._lines.append(record.model_dump_json())
        self._take(record)

    def _take(self, record: Batch | Ordered) -> None:
        if isinstance(record, Batch):
            self._batches.append(record)
        else:
            self._orders.append(record)

    def _read(self, lines: JsonLines, plan: SurveyPlan) -> None:
        def checked(line: bytes) -> SurveyPlan | Batch | Ordered:
            record = RECORD.validate_json(line)
            if isinstance(record, SurveyPlan) != (lines.count == 0):
                raise ValueError("a survey begins with its plan and has no other")
            if isinstance(record, SurveyPlan) and record.format != FORMAT:
                raise ValueError(f"format {record.format} is not {FORMAT}")
            return record

        for record in lines.read(checked, mend=": give another file, or delete this one"):
            if not isinstance(record, SurveyPlan):
                self._take(record)
            elif record != plan:
                raise BadInput(
                    f"{lines.path}: was written for another region, spacing or radius: give another file"
                )
