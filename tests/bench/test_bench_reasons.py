"""Reasons of failures: one line that ends with the cause, also of an error of another machine."""

import pytest
from made_benchmark import NAME

from virl.bench.engine.cluster import Model, RemoteFault, Worker
from virl.bench.engine.work import LONGEST_REASON, Job, reason_of
from virl.bench.resources import ModelUse, Terms
from virl.errors import BadInput, VirlError

TRACE = "ray::Model.ask() failed\n" + '  File "x.py", line 9, in ask\n' * 40
CAUSE = "AttributeError: property 'pixels' has no setter"


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        (f"{TRACE}\x1b[36m{CAUSE}\x1b[39m\n", CAUSE),
        (TRACE + "y" * 900, "y…"),
        ("z" * 900, "z…"),
        ("short\nand  whole", "RuntimeError: short and whole"),
        ("", "RuntimeError:"),
    ],
)
def test_a_reason_is_a_line_that_ends_with_the_cause(text: str, ends: str) -> None:
    reason = reason_of(RuntimeError(text))
    assert reason.startswith("RuntimeError:")
    assert reason.endswith(ends)
    assert len(reason) <= LONGEST_REASON
    assert reason_of(VirlError("")) == ""


def test_a_node_with_another_version_says_so_before_it_opens_anything() -> None:
    job = Job(NAME, {}, Terms())
    for said in (
        Worker(job, None).open("0.0.1"),
        Model(job.terms, ModelUse("matcher", "sift")).name("0.0.1"),
    ):
        assert isinstance(said, RemoteFault)
        with pytest.raises(BadInput, match=r"node .* has virl .*, and the run was started by 0.0.1: install"):
            raise said.error()
