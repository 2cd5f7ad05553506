"""Parts of replies that do not fit: one never spoils the rest, and each is counted."""

import logging
from time import process_time
from typing import Annotated, Any

import pytest
from pydantic import Field

from virl.errors import ProviderError
from virl.platform.city.left_out import MOST_REASONS, LeftOut
from virl.platform.providers.http.bodies import MUST_FIT, CamelBody, OrUnknown, ReplyBody, read_body


class _Point(ReplyBody):
    coordinates: tuple[float, float]


class _Thing(CamelBody):
    id: str
    at: _Point
    size: int = 0
    facing: Annotated[float | None, OrUnknown] = 0.0
    hour: Annotated[int, MUST_FIT] = Field(0, ge=0)
    long_name: str = ""
    tags: dict[str, str] = Field(default_factory=dict)


class _List(ReplyBody):
    things: tuple[_Thing, ...] = ()
    path: tuple[tuple[float, float], ...] = ()
    cells: tuple[tuple[Annotated[float | None, OrUnknown], ...], ...] = ()
    few: tuple[int, ...] = Field((), max_length=3)


GOOD: dict[str, Any] = {"id": "a", "at": {"coordinates": [1, 2]}}
READ = _Thing(id="a", at=_Point(coordinates=(1, 2)))


def read(reply: object) -> tuple[_List, list[str]]:
    left_out = LeftOut()
    found = read_body(_List, reply, "Service", lambda reason, part: left_out.add("Service", reason, part))
    return found, [reason for one in left_out.omissions() for reason in one.reasons]


@pytest.mark.parametrize(
    ("odd", "changes"),
    [
        ({"at": {"coordinates": [1, 2, 35.5]}}, {}),
        ({"size": 7.6}, {"size": 8}),
        ({"size": 2**70}, {"size": 2**70}),
        ({"longName": 12}, {"long_name": "12"}),
        ({"longName": None, "tags": None, "size": None, "facing": None}, {}),
        ({"unknown": {"deep": [1e999]}}, {}),
    ],
)
def test_what_can_be_read_is_read_and_not_counted(odd: dict[str, object], changes: dict[str, object]) -> None:
    found, told = read({"things": [GOOD | odd]})
    assert found.things == (READ.model_copy(update=changes),)
    assert told == []


@pytest.mark.parametrize(
    ("odd", "changes", "reason"),
    [
        ({"size": "large"}, {"size": 0}, "size: Input should be a valid integer, unable to parse"),
        (
            {"facing": "north"},
            {"facing": None},
            "facing: Input should be a valid number, unable to parse string as a number (in a)",
        ),
        ({"facing": float("inf")}, {"facing": None}, "facing: Input should be a finite number (in a)"),
        ({"longName": ["x"]}, {"long_name": ""}, "longName: Input should be a valid string (in a)"),
        (
            {"tags": {"k": "v", "w": [1]}},
            {"tags": {"k": "v"}},
            "tags.w: Input should be a valid string (in a)",
        ),
    ],
)
def test_an_odd_field_is_unknown_and_counted(
    odd: dict[str, object], changes: dict[str, object], reason: str
) -> None:
    found, [told] = read({"things": [GOOD | odd]})
    assert found.things == (READ.model_copy(update=changes),)
    assert told.startswith(reason)


@pytest.mark.parametrize("odd", [{"id": None}, {"at": 3}, {"at": {"coordinates": [1]}}, {"hour": -1}])
def test_an_item_that_lacks_what_it_needs_is_left_out_and_the_others_are_kept(odd: dict[str, object]) -> None:
    found, told = read({"things": [GOOD, GOOD | {"id": "odd"} | odd, GOOD]})
    assert found.things == (READ, READ)
    assert len(told) == 1
    assert told[0].startswith(f"things.{next(iter(odd))}")


def test_lists_of_numbers_lose_their_odd_elements_alone() -> None:
    found, told = read(
        {"path": [[1, 2, 9], [3, 4], ["x", 5]], "cells": [[1, "x", None]], "few": [1, 2.4, 3, 4]}
    )
    assert (found.path, found.cells, found.few) == (((1, 2), (3, 4)), ((1, None, None),), (1, 2, 3))
    assert len(told) == 3


def test_a_whole_that_lacks_what_it_needs_is_refused() -> None:
    with pytest.raises(
        ProviderError, match=r"Service: the reply lacks a field, or has a wrong one \(id: Field"
    ):
        read_body(_Thing, {"at": {"coordinates": [1, 2]}}, "Service")


def test_a_source_is_counted_once_for_each_part_and_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    left_out = LeftOut()
    for number in [*range(20), *range(20)]:
        left_out.add("Service", f"reason {number}", {"id": number})
    [told] = left_out.omissions()
    assert (told.count, told.reasons) == (20, tuple(f"reason {number}" for number in range(MOST_REASONS)))
    assert caplog.messages == ["Service: some is left out and counted, first reason 0"]


def test_a_reply_of_2000_odd_items_takes_but_some_times_as_long_as_one_of_good_ones() -> None:
    def seconds(reply: object) -> float:
        began = process_time()
        read(reply)
        return process_time() - began

    odd = {"at": {"coordinates": [1, 2, 3]}, "size": 1.5, "facing": "north", "tags": {"k": [1]}}
    good, bad = {"things": [GOOD] * 2000}, {"things": [GOOD | odd | {"id": f"{n}"} for n in range(2000)]}
    ratios = [seconds(bad) / seconds(good) for _ in range(3)]
    assert min(ratios) < 20, ratios
