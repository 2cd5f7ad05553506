from virl.journal.records import DetectionRecord, NoteRecord, ViewRecord
from virl.journal.story import heading_of, is_rows, scalar, seen_in
from virl.pages.maps import without_common_end


def note(topic: str, key: str, text: str, title: str = "") -> NoteRecord:
    return NoteRecord(seq=1, topic=topic, key=key, text=text, title=title)


def test_headings_are_words_of_the_task() -> None:
    home = note("home", "home-040", "6.5 of 10.", "90 School Street, Apt 4D")
    assert heading_of(home) == ("Home", "90 School Street, Apt 4D", "6.5 of 10.")
    assert home.sentence == "90 School Street, Apt 4D: 6.5 of 10."
    assert heading_of(note("stop", "2", "Bank: open")) == ("Stop 2", "", "Bank: open")
    assert heading_of(note("wants", "all", "Nothing.")) == ("Wants", "", "Nothing.")


def test_values_are_written_for_people() -> None:
    written = [scalar(one) for one in (None, True, 0.1 + 0.2, [], ["a", 2])]
    assert written == ["\N{EN DASH}", "yes", "0.3", "none", "a, 2"]
    assert scalar({"place_type": "gym", "near": False}) == "place type gym, near no"
    assert scalar("x" * 4000 + "y").endswith("x\n… and 2 characters more, in journal.jsonl")
    assert scalar(f"Sagt: {'語' * 4000}").startswith(f"Sagt: {'語' * 3900}"), "a text without blanks is lost"
    assert is_rows([{"where": "a", "what": 1}, {"where": "b", "what": 2}])
    assert not is_rows([{"where": "a"}, {"what": 1}])
    assert not is_rows([{"where": ["a"]}])


def test_a_view_is_told_by_its_direction_and_what_was_found() -> None:
    box = (0.0, 0.0, 9.0, 9.0)
    found = DetectionRecord(label="bus_stop", score=0.9, box=box, text="Line 4")
    view = ViewRecord(
        file="a", pano_id="p", heading=91, pitch=0, fov=90, width=9, height=9, detections=(found,)
    )
    assert (
        seen_in(view, "step 3") == "View to the east, 91°, at step 3: found: bus stop with the sign “Line 4”"
    )


def test_labels_of_a_map_do_not_repeat_the_city() -> None:
    assert without_common_end(["9 Elm Walk, Virlton", "start", "2 King Lane, Virlton"]) == [
        "9 Elm Walk", "start", "2 King Lane",
    ]  # fmt: skip
    assert without_common_end(["9 Elm Walk, Virlton", "2 King Lane, Oakham"])[0] == "9 Elm Walk, Virlton"
