import pytest

from virl.platform.navigators.follower.clauses import End, Hint, OrientClause, PlannedLeg
from virl.platform.navigators.follower.reading import MAX_LEGS, understand

NEAR = Hint("near")
LEGS = {
    "Go to the light and turn left.": [PlannedLeg("left", 1, "implied", "light", remarks=1)],
    "Walk through two lights and turn right at the next one.": [PlannedLeg("right", 3, "said")],
    "Pass one light. At the second light, turn left.": [PlannedLeg("left", 2, "said", "light")],
    "Go through 1 light, then at the following light take a right.": [
        PlannedLeg("right", 2, "said", "light")
    ],
    "Turn right at the bank.": [PlannedLeg("right", 1, "open")],
    "Cross the street and turn left.": [PlannedLeg("left", 2, "said")],
    "Cross the street and turn left right away.": [PlannedLeg("left", 1, "said")],
    "Go two blocks and make a left.": [PlannedLeg("left", 2, "said", remarks=1)],
    "Take the second right.": [PlannedLeg("right", 2, "open")],
    "Walk until the street ends, then veer left.": [
        PlannedLeg("left", 1, "open", "end", slight=True, remarks=3)
    ],
    "Turn left at the light. Turn right at the next light.": [
        PlannedLeg("left", 1, "implied", "light"),
        PlannedLeg("right", 1, "implied", "light"),
    ],
    "Ignore the first light and turn left at the next one.": [PlannedLeg("left", 2, "said")],
    "Do not turn right at the pharmacy. Turn left there.": [PlannedLeg("left", 1, "open")],
    "Turn around.": [],
    "Take a left at the light then a right at the next light. Take a left at the next light.": [
        PlannedLeg("left", 1, "implied", "light"),
        PlannedLeg("right", 1, "implied", "light"),
        PlannedLeg("left", 1, "implied", "light"),
    ],
    "Begin by walking down the street and taking a left.": [PlannedLeg("left", 1, "open")],
    "There is a light almost immediately after - turn left at that light.": [
        PlannedLeg("left", 1, "implied", "light", hints=((1, NEAR),))
    ],
    "Go through two lights. The second light has a bank. Turn left.": [PlannedLeg("left", 3, "said")],
    "Walk to the second light. The second light has a bank. Turn left.": [
        PlannedLeg("left", 2, "said", "light", remarks=1)
    ],
    "Go through the two lights in quick succession. Turn left at the next light.": [
        PlannedLeg("left", 3, "said", "light", hints=((2, NEAR),))
    ],
    "Go through the double lights. Turn left at the next light.": [
        PlannedLeg("left", 2, "said", "light", hints=((1, Hint(is_pair=True)),))
    ],
    "Walk to the double lights and go through both of them. Turn left at the light.": [
        PlannedLeg("left", 2, "said", "double", hints=((1, Hint(is_pair=True)),))
    ],
    "Pass the park and the next 2 intersections with no light. Turn left.": [PlannedLeg("left", 3, "said")],
    "Turn right and immediately left around a park.": [
        PlannedLeg("right", 1, "open"),
        PlannedLeg("left", 1, "open", hints=((1, NEAR),)),
    ],
    "Take the right side street. Turn left at the next corner.": [
        PlannedLeg("right", 1, "implied", "side", hints=((1, Hint(kind="side")),)),
        PlannedLeg("left", 1, "implied", "corner"),
    ],
    "You will see a street on your left. Walk down this street.": [PlannedLeg("left", 1, "open")],
    "Take the next two lefts.": [PlannedLeg("left", 1, "open"), PlannedLeg("left", 1, "said")],
    "Turn left at the fork.": [PlannedLeg("left", 1, "implied", "fork", slight=True)],
    "Go through the light. As you cross the intersection, pass a bank. Turn left at the next light.": [
        PlannedLeg("left", 2, "said", "light", remarks=2)
    ],
    "Go through the light. Walk down the next block and turn left at the light.": [
        PlannedLeg("left", 2, "said", "light", remarks=1)
    ],
    "Pass a bank. On the next block, pass a zoo. Turn left.": [PlannedLeg("left", 2, "said", remarks=2)],
    "Pass a bank before crossing the street, then turn left.": [PlannedLeg("left", 2, "said")],
    "Pass a bank. Go past it and turn left.": [PlannedLeg("left", 1, "open", remarks=4)],
    "Turn to your left. There is a zoo.": [],
    "Stop at the light and turn to your right. Walk down that road.": [
        PlannedLeg("right", 1, "implied", "light")
    ],
    "Go to the light, turn to your left.": [PlannedLeg("left", 1, "implied", "light", remarks=1)],
    "Take the immediate left.": [PlannedLeg("left", 1, "open", hints=((1, NEAR),))],
    "Turn left at the light immediately after.": [
        PlannedLeg("left", 1, "implied", "light", hints=((1, NEAR),))
    ],
    "Go through a light and turn left at the ones right after.": [
        PlannedLeg("left", 2, "said", hints=((2, NEAR),))
    ],
    "Turn right. Go down the long block. Turn left at the light.": [
        PlannedLeg("right", 1, "open"),
        PlannedLeg("left", 1, "implied", "light", remarks=1, hints=((1, Hint("far")),)),
    ],
    "Turn left at the second light of the double intersection.": [
        PlannedLeg("left", 2, "said", "double", hints=((2, NEAR),))
    ],
    "Walk to a double light. Turn left at the second light.": [
        PlannedLeg("left", 2, "said", "double", remarks=1, hints=((2, NEAR),))
    ],
    "Walk to a double light. Turn left at the first light.": [
        PlannedLeg("left", 1, "implied", "double", remarks=1)
    ],
    "Go through the first light of the double intersection. At the second light of it, turn left.": [
        PlannedLeg("left", 2, "said", "light", hints=((2, NEAR),))
    ],
    "Go through the double set of lights and turn left at the second light.": [
        PlannedLeg("left", 2, "said", "light", hints=((1, Hint(is_pair=True)),))
    ],
    "Go through the T-intersection. Turn left at the four-way intersection.": [
        PlannedLeg("left", 2, "said", "four", hints=((1, Hint(kind="tee")), (2, Hint(kind="four"))))
    ],
    "Turn left at the top of the T-intersection.": [
        PlannedLeg("left", 1, "implied", "tee", hints=((1, Hint(kind="tee")),))
    ],
    "Go by a light and two more lights and turn left.": [PlannedLeg("left", 4, "said")],
    "Pass a bank before a light which you will go through. Turn left at the light.": [
        PlannedLeg("left", 2, "said", "light")
    ],
    "Pass a bank. Go on for quite a while and turn left.": [PlannedLeg("left", 1, "open", remarks=5)],
    "Go past the parks on the left and right and past a zoo. Turn left.": [
        PlannedLeg("left", 1, "open", remarks=6)
    ],
}
ENDS = {
    "Turn left and stop.": End("turned", 0, "implied"),
    "Turn left. Take two steps and stop.": End("turned", 0, steps=2),
    "Turn left. Stop at the second light.": End("in", 1),
    "Turn left. Go past a light and stop just before the next one.": End("before", 1),
    "Turn left. Go through the light and stop.": End("after", 1),
    "Turn left. Go through the light. Stop a step after the intersection.": End("after", 1, steps=1),
    "Take a left and stop in the intersection.": End("turned", 0),
    "Turn left. Stop a step after the intersection.": End("turned", 0, steps=1),
    "Turn left. Stop in the middle of the block.": End("fraction", 0, fraction=0.5),
    "Turn left. Stop at the zoo. This is about 3/4 of the way down the block.": (
        End("fraction", 0, fraction=0.75)
    ),
    "Turn left. Go 1/4 down the block. There is a zoo on the right. There is a bank. Stop at the zoo.": (
        End("fraction", 0, fraction=0.25, remarks=2)
    ),
    "Turn left. Stop almost at the end of the park.": End("landmark", 0),
    "Turn left. Stop at the third light. This is your destination.": End("in", 2),
    "Turn left. Stop before the next light, a large crossing. There is a zoo.": End("before", 0),
    "Turn left. Go to the next three lights and stop.": End("in", 2, remarks=1),
    "Turn left. Stop halfway down the block.": End("fraction", 0, fraction=0.5),
    "Turn left. Go to the second light. Stop at the zoo.": End("landmark", 1, "implied", remarks=1),
    "Turn left. Pass the bank, then stop at the zoo.": End("landmark", 0, remarks=2),
    "Turn left. Stop at the bank on the near left corner.": End("corner", 0),
    "Turn left. Go on for a few blocks and stop at the bank on the left.": (
        End("landmark", 2, "open", remarks=2)
    ),
    "Turn left. Go to the light and stop a step on the other side of the intersection.": (
        End("after", 1, steps=1, remarks=1)
    ),
    "Turn left. Go to the end of the block and stop at the bank on the left.": (
        End("fraction", 0, fraction=0.85, remarks=2)
    ),
    "Turn left. Go through the first light and stop right under the second.": End("in", 1),
    "Turn left. Go straight through the next one. Stop at the zoo.": End("landmark", 1),
    "Turn left. Stop at the zoo immediately after.": End("landmark", 0),
    "Turn left. Pass the bank and stop as it ends.": End("landmark", 0, remarks=2),
    "Turn left. Stop at the third building.": End("building", 0, building=3),
    "Turn left. There is a zoo.": End("open", 0),
    "Stop at the light. Turn left and walk on. Stop at the zoo.": End("landmark", 0, remarks=1),
    "Turn left. Halfway down the block is a bank. There is a zoo. There is a door. You are there.": (
        End("fraction", 0, fraction=0.5)
    ),
    "Turn left. Stop several steps after turning, 1/4 down the block.": End("fraction", 0, fraction=0.25),
    "Turn left. Go through the light and stop on your left.": End("landmark", 1, remarks=1),
    "Turn left. Go through the light. Stop before crossing the street.": End("before", 1),
    "Turn left. Go through the light and stop a step after it.": End("after", 1, steps=1),
    "Go to the light and turn left.": End("turned", 0, "implied"),
    "Turn left and stop immediately. You see a shop, but stop in the intersection.": (
        End("turned", 0, "implied", remarks=0)
    ),
    "Turn left. Exit the intersection and stop.": End("turned", 0),
    "Turn left. Go through the light. Stop after two steps, halfway down the block.": (
        End("fraction", 1, fraction=0.5)
    ),
    "Turn left. Stop halfway down the first building.": End("building", 0, building=1),
    "Turn left. Stop at the last store on the block.": End("fraction", 0, fraction=0.7),
    "Turn left. Stop two steps after the bank.": End("landmark", 0, remarks=1),
    "Turn left. Pass the bank, take two steps, then stop.": End("landmark", 0, remarks=2),
    "Turn left. Stop before the side street.": End("before", 0, hints=((1, Hint(kind="side")),)),
    "": End("open", 0),
}


@pytest.mark.parametrize(("text", "legs"), LEGS.items(), ids=LEGS)
def test_legs(text: str, legs: list[PlannedLeg]) -> None:
    assert list(understand(text).legs) == legs


@pytest.mark.parametrize(("text", "end"), ENDS.items(), ids=ENDS)
def test_ends(text: str, end: End) -> None:
    assert understand(text).end == end


def test_traffic_counts_only_at_the_start() -> None:
    plan = understand("Go against the traffic. Turn left at the light. You now go with the flow of traffic.")
    assert plan.orient == OrientClause(traffic=False)


def test_endless_turns_are_cut() -> None:
    assert len(understand("Turn left. " * 500).legs) == MAX_LEGS
