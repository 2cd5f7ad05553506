"""Weekly patterns, and moments of a week in words."""

import pytest

from virl.errors import BadInput
from virl.platform.city.places import moment_in, told_moment
from virl.platform.navigators.sight.rules import read_usual_hours, usual_hours


@pytest.mark.parametrize("moment", [(0, 0), (2, 750), (6, 1439)])
def test_a_moment_is_told_and_understood(moment: tuple[int, int]) -> None:
    assert moment_in(f"I am hungry. {told_moment(*moment)} What now?") == moment


@pytest.mark.parametrize("text", ["", "It is Monday.", "It is Monday at 25:00", "It is Funday at 10:00."])
def test_other_texts_tell_none(text: str) -> None:
    assert moment_in(text) is None


@pytest.mark.parametrize("pattern", ["", "mon", "mon 9-12", "xyz 9:00-12:00", "mon 9:00"])
def test_a_broken_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(BadInput, match=r"place-types\.yaml, bar: open: should be like"):
        read_usual_hours("bar", pattern)


def test_many_types_have_usual_hours() -> None:
    assert len(usual_hours()) > 40
