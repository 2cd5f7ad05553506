"""The rules that draft, estimate and audit the activities of a day, rate views, and plan an ungrounded day.

The next activity is a meal when it is time, rest when needed, else what is liked.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from virl.clock import parse_clock, show_clock
from virl.mind.lexicon import Lexicon
from virl.routines.day.replies import (
    AuditQuestion,
    Change,
    DayDraft,
    DayEstimate,
    DayVerdict,
    DraftQuestion,
    EstimateQuestion,
    Kind,
    Offer,
    RuleActivity,
    SceneryQuestion,
    SceneryRatings,
    TellingQuestion,
    Told,
    UngroundedActivity,
    UngroundedDay,
    UngroundedQuestion,
    ViewRating,
)
from virl.routines.day.wish_rules import Feeling, Pastime, Points, day_book, is_thrifty, likes, listen

SHORTEST = 20  # minutes for which anything is begun; chosen
REST_MINUTES = 45  # chosen
SCENIC_MINUTES = 40  # chosen
SCENIC_HOURS = (9 * 60, 19 * 60)  # daylight for most of the year; chosen
MEAL_GAP, HUNGRY_GAP = 180, 120  # minutes between meals, and when one is very hungry; chosen
VERY_HUNGRY, BREAKFAST_HUNGER, NOT_HUNGRY, WORN_OUT, IN_PAIN = 75.0, 40.0, 10.0, 15.0, 85.0  # of 100; chosen
MEAL_RESERVE_USD = 15.0  # kept for each meal to come; chosen
LEAST_MEAL_USD = 12.0  # with less, no meal is looked for; chosen
# Weights of what speaks for a pastime (chosen): a word of the client, a word said today, an hour's relief;
# and against it: doing the same again, a dollar's share of what is left.
LIKED, ASKED, RELIEF, AGAIN, DEAR = 1.5, 3.0, 0.5, 4.0, 3.0
BEARABLE = 30.0  # of 100: what is no worse needs no relief; chosen
GOOD = ("joy", "energy")
GUESSED_WAY = 15  # minutes from anywhere to anywhere, for who does not look: the usual guess of planners
MOST = 14  # activities of an ungrounded day; more than any day from nine to nine holds
# Points of ten for the shares of a picture (chosen): half of it green, or a wide sky over water, is a view.
BASE, GREEN, SKY, WATER = 1.0, 10.0, 5.0, 12.0


def draft(question: DraftQuestion, lexicon: Lexicon) -> DayDraft:
    """Return the next activity by rules: a meal, rest, the scenic spot or a pastime; `end` after the day."""
    if question.minutes_left < SHORTEST:
        return _draft_now(question, "end", "", 0, "End of the day", "No time is left for anything more.")
    if found := _draft_meal(question):
        return found
    energy, pain = question.state["energy"], question.state["pain"]
    if not question.is_refused("normal") and (energy <= WORN_OUT or pain >= IN_PAIN):
        why = f"An energy of {energy:.0f} and a pain of {pain:.0f} of 100 call for a break."
        return _draft_now(question, "normal", "", REST_MINUTES, "Rest", why)
    why = "Nothing on offer fits better just now."
    return _best_pastime(question, lexicon) or _draft_now(
        question, "normal", "", REST_MINUTES, "Time of one's own", why
    )


def audit(question: AuditQuestion, lexicon: Lexicon) -> DayVerdict:
    """Return a verdict on an activity; it may not be unwanted, a repetition, too tiring, or an early meal."""
    activity, before = question.activity, question.done
    said = "\n".join((question.client.words, *question.wishes))
    if likes(said, lexicon).get(activity.sort, 0) < 0 and activity.kind == "normal":
        return DayVerdict(
            fits=False, reason=f"{question.client.name} wants no {activity.sort.replace('_', ' ')}."
        )
    if activity.kind == "eat":
        meals = [parse_clock(one.ends) for one in before if one.kind == "eat"]
        if meals and parse_clock(activity.starts) - max(meals) < HUNGRY_GAP:
            return DayVerdict(fits=False, reason="The last meal is too near.")
        if question.state["hunger"] < NOT_HUNGRY and not before:
            return DayVerdict(fits=False, reason="Nobody is hungry yet.")
    elif activity.place and any(one.place == activity.place and one.kind != "transport" for one in before):
        return DayVerdict(fits=False, reason="The same place was visited before.")
    pastime = day_book().pastimes.get(activity.sort)
    if pastime and pastime.active and question.state["energy"] < WORN_OUT:
        return DayVerdict(fits=False, reason="There is too little energy left for it.")
    return DayVerdict(fits=True, reason="Nothing speaks against it.")


def estimate(question: EstimateQuestion, lexicon: Lexicon) -> DayEstimate:  # noqa: ARG001
    """Return an activity's changes of feelings, its way included, and its cost without the way."""
    activity = question.activity
    parts = _changes_by_cause(activity)
    changes = {}
    for name in question.state:
        shares = {why: part.get(name, 0.0) for why, part in parts.items()}
        total = round(sum(shares.values()))
        most = max(shares, key=lambda why: abs(shares[why]))
        changes[name] = Change(by=max(min(total, 100), -100), because=most if total else "")
    return DayEstimate(**changes, cost_usd=_cost_usd(activity))


def tell(question: TellingQuestion, lexicon: Lexicon) -> Told:
    """Return the feelings and wishes that the client's words express."""
    return listen(question.said, question.state, lexicon)


def rate_scenery(question: SceneryQuestion, lexicon: Lexicon) -> SceneryRatings:  # noqa: ARG001
    """Return a rating, 0 to 10, of each view by its measured shares of green, sky and water."""
    ratings = []
    for number, view in enumerate(question.views):
        points = BASE + GREEN * view.green + SKY * view.sky + WATER * view.water
        shares = {"green": view.green, "sky": view.sky, "water": view.water}
        shown = ", ".join(f"{share:.0%} {name}" for name, share in shares.items() if share >= 0.01)
        reason = f"The picture shows {shown or 'no green and no sky'}."
        ratings.append(ViewRating(view=number, rating=round(min(points, 10.0), 1), reason=reason))
    return SceneryRatings(ratings=tuple(ratings))


def plan_ungrounded(question: UngroundedQuestion, lexicon: Lexicon) -> UngroundedDay:
    """Return a day that the rules plan for a town of which they know nothing.

    Places are sorts of place, every way takes a quarter of an hour, hours and prices are what is usual.
    """
    offers = tuple(Offer(sort=sort, count=1) for sort in day_book().pastimes)
    state, budget, now = dict(question.state), question.budget_usd, question.starts
    done: list[RuleActivity] = []
    planned: list[UngroundedActivity] = []
    for _ in range(MOST):
        asked = DraftQuestion(
            client=question.client,
            state=state,
            now=now,
            until=question.until,
            budget_usd=budget,
            done=tuple(done),
            wishes=(),
            offers=offers,
        )
        proposal = draft(asked, lexicon)
        if proposal.kind == "end" or (proposal.place and asked.minutes_left < GUESSED_WAY + 20):
            break
        travel_minutes = GUESSED_WAY if proposal.place else 0
        starts = parse_clock(proposal.starts) + travel_minutes
        if proposal.place:
            planned.append(
                UngroundedActivity(
                    kind="transport",
                    starts=now,
                    ends=show_clock(parse_clock(now) + GUESSED_WAY),
                    place=proposal.place,
                    what="Go there",
                    mode="walking",
                    cost_usd=0.0,
                )
            )
        activity = RuleActivity(
            kind=proposal.kind,
            starts=show_clock(starts),
            ends=show_clock(min(parse_clock(proposal.ends) + travel_minutes, parse_clock(question.until))),
            what=proposal.what,
            place=proposal.place,
            sort=proposal.place,
            mode="walking",
            travel_minutes=travel_minutes,
        )
        felt = estimate(EstimateQuestion(client=question.client, state=state, activity=activity), lexicon)
        state = {name: min(max(value + getattr(felt, name).by, 0), 100) for name, value in state.items()}
        cost = min(felt.cost_usd, budget)  # who has little left eats for little
        budget -= cost
        now = activity.ends
        done.append(activity)
        planned.append(
            UngroundedActivity(
                kind="eat" if proposal.kind == "eat" else "normal",
                starts=activity.starts,
                ends=activity.ends,
                place=proposal.place,
                what=proposal.what,
                mode="any",
                cost_usd=cost,
            )
        )
    return UngroundedDay(activities=tuple(planned))


@dataclass(frozen=True, slots=True)
class Meal:
    """A meal of the day, with the hours in which it usually begins."""

    name: str
    earliest: int
    latest: int
    minutes: int
    sort: str


MEALS = (
    Meal("breakfast", 6 * 60 + 30, 10 * 60, 40, "cafe"),
    Meal("lunch", 11 * 60, 14 * 60 + 30, 60, "restaurant"),
    Meal("dinner", 17 * 60 + 30, 21 * 60, 75, "restaurant"),
)
"""The meals with their usual hours; chosen."""


def _draft_meal(question: DraftQuestion) -> DayDraft | None:
    """Return the draft of a meal that is due by the clock or by hunger; `None` if none is."""
    since, hunger = question.since_meal(), question.state["hunger"]
    if question.is_refused("eat") or question.budget_usd < LEAST_MEAL_USD or question.minutes_left < 30:
        return None
    for meal in MEALS:
        due = meal.earliest <= question.minute <= meal.latest and (since is None or since >= MEAL_GAP)
        if due and (meal.name != "breakfast" or _can_have_breakfast(question)) and hunger >= NOT_HUNGRY:
            why = f"It is time for {meal.name}, with a hunger of {hunger:.0f} of 100."
            return _draft_now(question, "eat", meal.sort, meal.minutes, meal.name.capitalize(), why)
    if hunger >= VERY_HUNGRY and (since is None or since >= HUNGRY_GAP):
        why = f"A hunger of {hunger:.0f} of 100 cannot wait."
        return _draft_now(question, "eat", "restaurant", 45, "Something to eat", why)
    return None


def _can_have_breakfast(question: DraftQuestion) -> bool:
    """Return whether the client is hungry enough for breakfast and could still pay later meals."""
    hunger, until = question.state["hunger"], parse_clock(question.until)
    later = sum(until >= meal.earliest + meal.minutes for meal in MEALS[1:])
    return hunger >= VERY_HUNGRY or (
        hunger >= BREAKFAST_HUNGER and question.budget_usd >= LEAST_MEAL_USD * (1 + later)
    )


def _best_pastime(question: DraftQuestion, lexicon: Lexicon) -> DayDraft | None:
    """Return the draft of the best pastime, or of the scenic spot; `None` if none is possible.

    The first by name among equals.
    """
    pastimes = day_book().pastimes
    offered = {offer.sort for offer in question.offers if offer.count}
    liked = likes(question.client.words, lexicon)
    asked = likes("\n".join(question.wishes), lexicon)
    scored = []
    for sort in sorted(offered & pastimes.keys()):
        pastime = pastimes[sort]
        if question.is_refused("normal", sort) or not _is_possible(pastime, question):
            continue
        taste = asked.get(sort, 0) * ASKED or liked.get(sort, 0) * LIKED
        if taste >= 0:
            scored.append((taste + _worth(sort, pastime, question), sort))
    first, last = SCENIC_HOURS
    scenic_is_due = first <= question.minute <= last - 30 and not question.is_refused("scenic")
    if question.scenic and scenic_is_due and not any(one.kind == "scenic" for one in question.done):
        # The view comes before every pastime, but after the best one as long as nothing was done.
        scenic = max((score for score, _ in scored), default=0.0) + (1.0 if question.done else -0.5)
        scored.append((scenic, "scenic"))
    if not scored:
        return None
    # Letters count negatively, so that of equals the first by name is the largest.
    _, sort = max(scored, key=lambda one: (one[0], [-ord(letter) for letter in one[1]]))
    if sort == "scenic":
        why = "The view there is the best that was found."
        return _draft_now(question, "scenic", "", SCENIC_MINUTES, "Enjoy the view", why)
    pastime = pastimes[sort]
    name = question.client.name
    if liked.get(sort, 0) + asked.get(sort, 0) > 0:
        why = f"It is what {name} likes, and there is time for it."
    else:
        wanted = {"joy": 1, "energy": 1}  # of the others, less is better
        effects = [
            f"{'more' if points > 0 else 'less'} {feeling}"
            for feeling, points in pastime.feelings.items()
            if points * wanted.get(feeling, -1) > 0
        ]
        why = f"{name} can use it: {', '.join(effects)}."
    return _draft_now(question, "normal", sort, pastime.minutes, pastime.what.capitalize(), why)


def _is_possible(pastime: Pastime, question: DraftQuestion) -> bool:
    """Return whether a pastime now fits the hour, the time, energy, and money left after later meals."""
    earliest, latest = pastime.span
    fits_the_hour = earliest <= question.minute and question.minute + min(pastime.minutes, 45) <= latest
    since = question.since_meal()
    meals_to_come = sum(
        question.minute <= meal.latest and (since is None or meal.latest - question.minute >= MEAL_GAP)
        for meal in MEALS[1:]
    )
    affordable = pastime.usd == 0 or pastime.usd <= question.budget_usd - MEAL_RESERVE_USD * meals_to_come
    strong = not pastime.active or question.state["energy"] >= WORN_OUT
    return fits_the_hour and affordable and strong and question.minutes_left >= min(pastime.minutes, 40)


def _worth(sort: str, pastime: Pastime, question: DraftQuestion) -> float:
    """Return points for a pastime: its relief of bad feelings, less for repetition and for its cost."""
    state, hours = question.state, pastime.minutes / 60
    bad: dict[Feeling, float] = {
        "stress": state["stress"],
        "joy": 100 - state["joy"],
        "sadness": state["sadness"],
        "energy": 100 - state["energy"],
        "pain": state["pain"],
    }
    need = {name: max(value - BEARABLE, 0.0) / 50 for name, value in bad.items()}
    relieved = sum(
        weight * pastime.feelings.get(name, 0.0) * (1 if name in GOOD else -1)
        for name, weight in need.items()
    )
    times = sum(one.sort == sort for one in question.done)
    thrift = 3.0 if is_thrifty("\n".join((question.client.words, *question.wishes))) else 1.0
    return (
        RELIEF * relieved * hours / 10
        - AGAIN * times
        - thrift * DEAR * pastime.usd / max(question.budget_usd, 1.0)
    )


def _draft_now(
    question: DraftQuestion, kind: Kind, place: str, minutes: int, what: str, reason: str
) -> DayDraft:
    """Return a draft that begins now and lasts `minutes`, or as many as are left in the day."""
    ends = question.minute + max(min(minutes, question.minutes_left), 0)
    return DayDraft(
        kind=kind,
        starts=question.now,
        ends=show_clock(ends),
        place=place,
        what=what,
        mode="any",
        reason=reason,
    )


def _changes_by_cause(activity: RuleActivity) -> dict[str, Mapping[str, float]]:
    """Return the signed changes of feelings in points that an activity brings, by their cause in words."""
    book = day_book()
    hours, way = activity.minutes / 60, activity.travel_minutes / 60
    parts: dict[str, Mapping[str, float]] = {"the hours that pass": _points_in(book.hourly, hours + way)}
    if activity.kind == "transport":
        parts[activity.mode] = _points_in(_travel_rates(activity.mode), hours)
        return parts
    if activity.travel_minutes:
        parts[f"{activity.travel_minutes} minutes of {activity.mode}"] = _points_in(
            _travel_rates(activity.mode), way
        )
    if activity.kind == "eat":
        parts["a meal"] = _points_in(book.meal, 1.0)
    elif not activity.place:
        parts["rest"] = _points_in(book.rest, hours)
    else:
        pastime = book.pastimes.get("park" if activity.kind == "scenic" else activity.sort)
        parts[activity.what or "the visit"] = _points_in(
            pastime.feelings if pastime else book.somewhere, hours
        )
        if activity.sort in book.snacks:
            parts["something small"] = _points_in(book.snack, 1.0)
    return parts


def _travel_rates(mode: str) -> Points:
    """Return the points by which each feeling changes in an hour of a travel mode; empty if unknown."""
    return next((rates for name, rates in day_book().travel.items() if name == mode), {})


def _points_in(rates: Mapping[Feeling, float], hours: float) -> dict[str, float]:
    """Return the points by which each feeling changes in some hours, given its points in one hour."""
    return {name: rate * hours for name, rate in rates.items()}


def _cost_usd(activity: RuleActivity) -> float:
    """Return the cost of an activity in US dollars: the known one, else a usual one."""
    if activity.known_usd is not None:
        return activity.known_usd
    if activity.kind == "eat":
        return day_book().meal_usd
    pastime = day_book().pastimes.get(activity.sort)
    return pastime.usd if pastime and activity.kind == "normal" and activity.place else 0.0
