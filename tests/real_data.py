"""Where tests find public data: `VIRL_DATA`, `../shared/data` beside the checkout, the user's data folder."""

import os
from pathlib import Path

import platformdirs
import pytest

_CHECKOUT = Path(__file__).parents[1]


def real_data(name: str) -> Path:
    """The folder of a data set such as `"touchdown"`; skips the test where there is none.

    With `VIRL_REQUIRE_DATA` set, as in CI, a missing folder is a failure instead.
    """
    homes = [_CHECKOUT.parent / "shared" / "data", Path(platformdirs.user_data_path("virl"))]
    if "VIRL_DATA" in os.environ:
        homes.insert(0, Path(os.environ["VIRL_DATA"]))
    for home in homes:
        if (home / name).is_dir():
            return home / name
    reason = (
        f"no {name} data: `virl data {name} --from DIR` puts a copy where tests find it, or set VIRL_DATA"
    )
    if "VIRL_REQUIRE_DATA" in os.environ:
        pytest.fail(reason)
    pytest.skip(reason)
