"""The reply to the prompt that reads errands."""

import re

from pydantic import Field, ValidationInfo, field_validator

from virl.mind.replies import Reply


class Errand(Reply):
    """One thing to do somewhere."""

    where: str = Field(
        min_length=1, description="An address or a place's name as written, else a kind of place."
    )
    what: str = Field(description="What is to be done there, in a few words of the text; may be empty.")


class ErrandList(Reply):
    """Errands read from a text."""

    errands: tuple[Errand, ...] = Field(description="In the order of the text.")
    back_home: bool = Field(description="Whether the text says that the way ends where it began.")

    @field_validator("errands")
    @classmethod
    def _are_in_the_text(cls, errands: tuple[Errand, ...], info: ValidationInfo) -> tuple[Errand, ...]:
        """Return whether the numbers of an address are in the text.

        An address that nobody gave would be walked to.
        """
        text = (info.context or {}).get("text")
        if not isinstance(text, str):
            return errands
        given = re.findall(r"\d+", text)
        for errand in errands:
            for number in re.findall(r"\d+", errand.where):
                if number not in given:
                    raise ValueError(f"{errand.where!r}: the text does not say {number}")
        return errands
