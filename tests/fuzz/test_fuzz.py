"""A slice of `make fuzz`, and every input that a reader once failed on."""

from pathlib import Path

import pytest

from fuzz.everything import GROUPS, all_kinds, shares
from fuzz.kinds.hostile import hostile_kinds
from fuzz.kinds.models import model_kinds
from fuzz.mutate import mutate_json
from fuzz.session import Kind, again, fault_of, fuzz
from virl.errors import BadInput

KEPT = Path(__file__).parent / "kept"
SEED, FAST, SLICE = 20_261, 200, 2000


def refuse(data: bytes) -> None:
    if b"boom" in data:
        raise KeyError("boom")
    raise BadInput("two\nlines" if b"lines" in data else "no good")


def test_only_an_error_of_one_line_is_no_fault() -> None:
    kind = Kind("any", [b"{}"], refuse, mutate_json)
    assert fault_of(kind, b"x")[:2] == ("", True)
    assert fault_of(kind, b"boom")[0] == "KeyError: 'boom'"
    assert "2 lines" in fault_of(kind, b"lines")[0]


def test_an_input_that_fails_is_kept_and_can_be_repeated(tmp_path: Path) -> None:
    def read(data: bytes) -> None:
        if data != b'{"a": 1}':
            raise KeyError(len(data))

    kind, told = Kind("any", [b'{"a": 1}'], read, mutate_json), list[str]()
    tally = fuzz(kind, 20, 1, tmp_path, told.append)
    assert tally.failures
    assert len(told) == len(tally.failures) <= tally.inputs == 20
    assert all(fault.startswith("KeyError") for _, fault in again(kind, tally.failures))
    assert fuzz(kind, 20, 1, tmp_path, told.append).failures == tally.failures


def test_replies_of_models_of_any_shape(tmp_path: Path) -> None:
    with model_kinds() as kinds:
        for kind, count in shares(kinds, FAST):
            assert not fuzz(kind, count, SEED, tmp_path).failures
            assert not [found for found in again(kind, kept(kind.name)) if found[1]]


@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")  # pydantic warns of what servers send amiss
@pytest.mark.parametrize("group", range(len(GROUPS)))
def test_a_slice_of_every_kind(group: int, tmp_path: Path) -> None:
    open_group, _ = GROUPS[group]
    with open_group(tmp_path) as kinds:
        for kind, count in shares(kinds, SLICE // len(GROUPS)):
            assert not [found for found in again(kind, kept(kind.name)) if found[1]]
            assert not fuzz(kind, count, SEED, tmp_path / "failures").failures


@pytest.mark.filterwarnings("ignore")  # of what is imported, and of sockets that are left half-way
@pytest.mark.parametrize(
    "tries", [pytest.param(15, marks=pytest.mark.slow), pytest.param(2000, marks=pytest.mark.soak)]
)
def test_inputs_that_are_made_to_hang_fill_or_mislead(tries: int, tmp_path: Path) -> None:
    with hostile_kinds(tmp_path) as kinds:
        for kind in kinds:
            tally = fuzz(kind, tries, SEED, tmp_path / "failures")
            assert not tally.failures
            print(f"{kind.name}: {tally.inputs} tries, 0 failures, {tally.seconds:.1f} s")


@pytest.mark.slow
def test_every_kept_input_is_of_a_kind() -> None:
    with all_kinds() as kinds:
        assert {folder.name for folder in KEPT.iterdir()} <= {kind.name for kind in kinds}


def kept(kind: str) -> list[Path]:
    """Inputs that a reader of this kind once failed on."""
    return sorted((KEPT / kind).glob("*"))
