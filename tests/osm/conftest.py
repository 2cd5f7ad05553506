"""What tests of rebuilt towns begin with."""

from pathlib import Path

import pytest
from written_extract import Writer


@pytest.fixture
def made(tmp_path: Path) -> Writer:
    """An extract of one street, 200 m from west to east, to which a test adds."""
    made = Writer(tmp_path / "town.osm.pbf")
    made.way((-100, 0), (0, 0), (100, 0), highway="residential", name="Main Street")
    return made
