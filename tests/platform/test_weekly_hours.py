"""Weekly patterns, and moments of a week in words."""

import pytest

from virl.platform.movement.sight.wishes import UsualHours, load_wish_phrases
from virl.platform.weekly_hours import moment_in, told_moment


@pytest.mark.parametrize("moment", [(0, 0), (2, 750), (6, 1439)])
def test_a_moment_is_told_and_understood(moment: tuple[int, int]) -> None:
    assert moment_in(f"I am hungry. {told_moment(*moment)} What now?") == moment


@pytest.mark.parametrize("text", ["", "It is Monday.", "It is Monday at 25:00", "It is Funday at 10:00."])
def test_other_texts_tell_none(text: str) -> None:
    assert moment_in(text) is None


@pytest.mark.parametrize("pattern", ["", "mon", "mon 9-12", "xyz 9:00-12:00", "mon 9:00"])
def test_a_broken_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="should be like"):
        UsualHours(kinds=("bar",), open=pattern)


def test_no_type_has_two_usual_hours() -> None:
    kinds = [kind for usual in load_wish_phrases().usual_hours for kind in usual.kinds]
    assert len(kinds) == len(set(kinds)) > 40
