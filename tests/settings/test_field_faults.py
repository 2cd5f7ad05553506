"""What a character file's reader is told of each mistake, word for word."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from virl.agent.character import Character
from virl.agent.character_file import load_character, read_fields, with_fields
from virl.errors import BadInput
from virl.settings.model import parse_settings

ZOE = {
    "name": "Zoe",
    "city": "virlton",
    "start": "91 Station Street",
    "background": "She likes bread.",
    "intention": "Zoe looks for a bakery.",
    "routine": "explore",
}


def told(line: str, folder: Path) -> list[str]:
    """What is said of Zoe's file if this line is put in place of hers, at the end."""
    name = line.partition(":")[0]
    file = folder / "zoe.yaml"
    kept = [f"{field}: {value}" for field, value in ZOE.items() if field != name]
    file.write_text("\n".join([*kept, line]) + "\n")
    with pytest.raises(BadInput) as caught:
        load_character(file)
    return [said.replace(f"{folder}/", "") for said in caught.value.lines]


AGE = "must be a whole number, at least 0 and at most 150"
PLACE = "must be text or {lat: ..., lng: ...}"
CLOCK = "must be a day and a time, such as 'wed 12:30'"


SHOWN = "must be at least -90 and at most 90"
LEVEL = "must be at least 0 and at most 100"
FEELINGS = "energy, hunger, joy, pain, sadness, stress"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("age: twenty", f"line 7: age: {AGE}, not 'twenty'"),
        ("age: 2001-99-99", f"line 7: age: {AGE}, not '2001-99-99'"),
        ("age: 3.5", f"line 7: age: {AGE}, not 3.5"),
        ("age: [1]", f"line 7: age: {AGE}, not [1]"),
        ("age: -5", "line 7: age: must be at least 0 and at most 150, not -5"),
        ("agee: 22", "line 7: agee: unknown field; did you mean 'age'?"),
        ("AGE: 22", "line 7: AGE: unknown field; did you mean 'age'?"),
        ("name: 7", "line 6: name: must be text (put it in quotes), not 7"),
        ("name: no", "line 6: name: must be text (put it in quotes), not false"),
        ("name:", "line 6: name: must be text, but is empty"),
        ("name: ''", "line 6: name: must not be empty"),
        (
            "tools: [look, mvoe]",
            ("line 7: tools, entry 2: must be one of look, look_closer, read_signs, detect, ask_about_view, "
            "move, turn, relocate, where_am_i, nearby_places, search_places, place_details, photos, geocode, "
            "route, travel_times, take_note, consult, not 'mvoe'; did you mean 'move'?"),
        ),
        (
            "tools: look, move",
            ("line 7: tools: must be a list, such as [look, look_closer], not 'look, move': "
            "write [look, move]"),
        ),
        ("limits: 3", "line 7: limits: must contain `field: value` lines, not 3"),
        ("limits:", "line 7: limits: must contain `field: value` lines, but is empty"),
        ("limits: {stepz: 3}", "line 7: limits.stepz: unknown field; did you mean 'steps'?"),
        (
            "limits: {hats: 3}",
            "line 7: limits.hats: unknown field: choose one of: steps, calls, minutes",
        ),
        ("limits: {minutes: 0}", "line 7: limits.minutes: must be above 0, not 0"),
        ("limits: {minutes: .nan}", "line 7: limits.minutes: must be above 0, not nan"),
        ("heading: 360", "line 7: heading: must be at least 0 and below 360, not 360"),
        ("start: [41.2, -8.7]", f"line 6: start: {PLACE}, not [41.2, -8.7]: write {{lat: 41.2, lng: -8.7}}"),
        ("start: [99.7, 35.6]", f"line 6: start: {PLACE}, not [99.7, 35.6]: write {{lat: 35.6, lng: 99.7}}"),
        ("start: 5", f"line 6: start: {PLACE}, not 5"),
        ("start: {lat: 1, lon: 2}", "line 6: start.lon: unknown field; did you mean 'lng'?"),
        ("start: {lat: 1}", "line 6: start.lng: field is missing"),
        (
            "start: {lat: 139.7, lng: 35.6}",
            f"line 6: start.lat: {SHOWN}, not 139.7: are latitude and longitude swapped?",
        ),
        ("start: {lat: 95, lng: 120}", f"line 6: start.lat: {SHOWN}, not 95"),
        ("route: [a, [1, 2]]", f"line 7: route, entry 2: {PLACE}, not [1, 2]: write {{lat: 1, lng: 2}}"),
        ("clock: 12:30", f"line 7: clock: {CLOCK}, not '12:30'"),
        ("clock: noon", f"line 7: clock: {CLOCK}, not 'noon'"),
        ("routine: a b", "line 6: routine: must be a name of letters, digits, '_' and '-', not 'a b'"),
        ("about: \"a\\nb\"", "line 7: about: must be one line: write `>-` after `about:`, or join the lines"),
        ("region: 5", "line 7: region: must be text or a list of [a, b] pairs, not 5"),
        ("region: [[1, 2], [1]]", "line 7: region, entry 2: must be a list of 2, not [1]"),
        ("rent: {price: [1]}", "line 7: rent.price: must be a list of 2, not [1]"),
        ("rent: {price: [5, 1]}", "line 7: rent: price 5 to 1: give the lowest rent first, then the highest"),
        ("day: {modes: [wlking]}", ("line 7: day.modes, entry 1: must be one of walking, cycling, transit, "
         "driving, not 'wlking'; did you mean 'walking'?")),
        ("day: {state: {Hunger: 500}}", f"line 7: day.state.Hunger: {LEVEL}, not 500"),
        (
            "day: {state: {hungr: 5}}",
            f"line 7: day.state: unknown feeling 'hungr': did you mean 'hunger'? choose one of: {FEELINGS}",
        ),
        ("senses: {pictures: maybe}", "line 7: senses.pictures: must be true or false, not 'maybe'"),
        ("count: {things: []}", "line 7: count.things: must not be empty"),
        ("count: {things: [bench, '']}", "line 7: count.things, entry 2: must not be empty"),
        ("errands: {}", "line 7: errands: give either `stops` or `text`"),
        ("errands: {end: 3, text: x}", "line 7: errands.end: must be text, 'home' or 'open', not 3"),
    ],
)  # fmt: skip
def test_each_mistake_is_one_line_with_all_that_is_needed(line: str, message: str, tmp_path: Path) -> None:
    assert told(line, tmp_path) == [f"zoe.yaml, {message}"]


def test_an_empty_file_names_the_fields_that_it_needs(tmp_path: Path) -> None:
    file = tmp_path / "zoe.yaml"
    file.write_text("# to do\n")
    with pytest.raises(BadInput) as caught:
        load_character(file)
    assert str(caught.value) == f"{file}: is empty: write the fields name, city, start, background, intention"


def test_all_faults_of_a_file_are_told_in_the_order_of_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "zoe.yaml"
    file.write_text(
        "age: old\nname: Zoe\ncity: virlton\nstart: 5\nintention: x\nlimits:\n  stepz: 3\n  calls: 0\n"
    )
    with pytest.raises(BadInput) as caught:
        load_character(file)
    assert [line.replace(f"{file}", "zoe.yaml") for line in caught.value.lines] == [
        "zoe.yaml: 5 faults",
        f"zoe.yaml, line 1: age: {AGE}, not 'old'",
        "zoe.yaml, line 1: background: field is missing",
        f"zoe.yaml, line 4: start: {PLACE}, not 5",
        "zoe.yaml, line 7: limits.stepz: unknown field; did you mean 'steps'?",
        "zoe.yaml, line 8: limits.calls: must be at least 1 and at most 1,000, not 0",
    ]
    assert "\n" not in str(caught.value)


def test_fields_of_the_command_line_are_told_in_the_same_words(tmp_path: Path) -> None:
    file = tmp_path / "zoe.yaml"
    file.write_text("\n".join(f"{field}: {value}" for field, value in ZOE.items()))
    zoe = load_character(file)
    with pytest.raises(BadInput) as caught:
        with_fields(zoe, read_fields(["age=old", "limits.stepz=3"]))
    assert caught.value.lines[1:] == (
        f"fields of this run: age: {AGE}, not 'old'",
        "fields of this run: limits.stepz: unknown field; did you mean 'steps'?",
    )


def test_no_message_speaks_of_types_of_python(tmp_path: Path) -> None:
    for line in (
        "start: [a]",
        "client: 5",
        "rent: {price: 5, areas: [7]}",
        "day: 9",
        "senses: [a]",
        "follow: x",
    ):
        said = " ".join(told(line, tmp_path)).lower()
        assert not any(
            word in said for word in ("tuple", "dict", "instance", "class", "input", "nonetype", "str.")
        )


DAMAGE = (
    *(
        "&a ",
        "*a",
        "[",
        "]",
        "{",
        "}",
        ": ",
        "- ",
        "\n",
        "\t",
        "\0",
        "<<: ",
        "? ",
        "| ",
        "'",
        '"',
        "~",
        ".nan",
    ),
    *(
        "!!int ",
        "!!binary ",
        "!!timestamp ",
        "!x ",
        "---\n",
        "%YAML 1.1\n",
        "1e999",
        "2001-99-99",
        "12:30",
        "0x",
        "=",
    ),
    *(
        "9" * 5000,
        "\ud800",
        "\x85",
        "[1, 2]",
        "[[1, 2], [3]]",
        "{lat: 1, lng: 2}",
        "{lat: x}",
        "{1: 2}",
        "#",
        "@",
    ),
)


@given(st.lists(st.tuples(st.integers(0, 400), st.sampled_from(DAMAGE)), min_size=1, max_size=4))
def test_whatever_is_done_to_a_file_it_is_read_or_refused_in_plain_words(
    damage: list[tuple[int, str]],
) -> None:
    text = (
        "\n".join(f"{field}: {value}" for field, value in ZOE.items()) + "\nlimits: {steps: 3}\nroute: [a]\n"
    )
    for place, what in damage:
        at = place % (len(text) + 1)
        text = text[:at] + what + text[at:]
    try:
        parse_settings(text, Character, source="zoe.yaml")
        said = "zoe.yaml"
    except BadInput as fault:
        said = str(fault)
    assert said.startswith("zoe.yaml")
    assert "\n" not in said
    assert not any(word in said for word in ("Input should", "tuple", "dictionary", "pydantic"))
