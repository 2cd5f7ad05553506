"""What is said of names that do not exist, and of several faults at once."""

import pickle

import pytest

from virl.errors import BadFile, BadInput, BadInputs, UnknownName, nearest_name, raise_all, told_of

CITIES = [f"town-{number}" for number in range(15)] + ["virlton", "tokyo"]


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("virltn", "virlton"),
        ("Virlton", "virlton"),
        ("TOKYO", "tokyo"),
        ("virl", "virlton"),
        ("vi", None),
        ("atlantis", None),
        ("", None),
        ("v" * 100_000, None),
    ],
)
def test_the_nearest_name_is_found_whatever_its_capitals(name: str, near: str | None) -> None:
    assert nearest_name(name, CITIES) == near


@pytest.mark.parametrize(
    ("kind", "name", "known", "message"),
    [
        (
            "city",
            "virltn",
            CITIES,
            "unknown city 'virltn': did you mean 'virlton'? `virl cities` lists all 17",
        ),
        ("city", "atlantis", CITIES, "unknown city 'atlantis': `virl cities` lists all 17"),
        (
            "mover",
            "gird",
            ["grid", "web"],
            "unknown mover 'gird': did you mean 'grid'? choose one of: grid, web",
        ),
        ("mover", "fly", ["grid", "web"], "unknown mover 'fly': choose one of: grid, web"),
        ("prompt", "virltn", CITIES, "unknown prompt 'virltn': did you mean 'virlton'?"),
        ("toy", "bear", [], "unknown toy 'bear': there are none"),
    ],
)
def test_an_unknown_name_is_told_with_what_helps(
    kind: str, name: str, known: list[str], message: str
) -> None:
    assert str(UnknownName(kind, name, known)) == message


def test_faults_of_a_file_are_one_line_in_a_log_and_a_line_each_on_the_terminal() -> None:
    fault = BadFile("zoe.yaml", [(2, "age: must be a whole number"), (None, "is empty")])
    assert str(fault) == "zoe.yaml: 2 faults: line 2: age: must be a whole number; is empty"
    assert list(fault.lines) == [
        "zoe.yaml: 2 faults",
        "zoe.yaml, line 2: age: must be a whole number",
        "zoe.yaml: is empty",
    ]
    assert told_of("zoe.yaml", fault) == list(fault.lines[1:])
    assert told_of("zoe.yaml", BadInput("no key")) == ["zoe.yaml: no key"]


def test_one_fault_is_raised_as_it_is_and_several_as_one() -> None:
    raise_all([])
    with pytest.raises(UnknownName):
        raise_all([UnknownName("toy", "bear", [])])
    with pytest.raises(BadInputs) as caught:
        raise_all([BadInput("a"), BadInput("b")])
    assert list(caught.value.lines) == ["2 faults", "a", "b"]


@pytest.mark.parametrize(
    "fault",
    [BadFile("f", [(1, "a"), (2, "b")]), UnknownName("city", "x", ["y"]), BadInputs([BadInput("a")])],
    ids=lambda fault: type(fault).__name__,
)
def test_a_fault_reaches_another_process_whole(fault: BadInput) -> None:
    again = pickle.loads(pickle.dumps(fault))  # noqa: S301 - our own
    assert (type(again), str(again), list(again.lines)) == (type(fault), str(fault), list(fault.lines))
