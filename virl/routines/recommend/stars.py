"""Public ratings, made comparable."""

USUAL_STARS = 3.8  # of 5: what most places have (chosen)
USUAL_COUNT = 20.0  # ratings that the usual one weighs as many as (chosen)


def steady_stars(stars: float | None, count: int) -> float:
    """A mean rating, drawn towards the usual one where few have rated.

    Args:
        stars: the mean, 1 to 5; `None` without ratings.
        count: how many have rated.
    """
    if stars is None:
        return USUAL_STARS
    return (stars * count + USUAL_STARS * USUAL_COUNT) / (count + USUAL_COUNT)
