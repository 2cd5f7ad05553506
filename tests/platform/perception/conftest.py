"""Pictures of streets with drawn signs, and the models of the default senses."""

from collections.abc import Callable

import cv2
import numpy as np
import pytest
from PIL import Image as Pictures
from PIL import ImageDraw, ImageFont

from virl.platform.city.streetview import Image
from virl.platform.perception.detectors.sign_detector import SignDetectorSettings
from virl.platform.perception.lexicons.sign_lexicon import Lexicon, LexiconSettings
from virl.platform.perception.models import Models
from virl.platform.perception.readers.rapidocr import RapidOcrReader, RapidOcrSettings
from virl.resources import data_folder
from virl.settings.model import load_settings

Corners = list[tuple[float, float]]
DrawStreet = Callable[..., Image]


def _board(text: str, background: tuple[int, int, int]) -> Image:
    picture = Pictures.new("RGB", (480, 90), background)
    pen = ImageDraw.Draw(picture)
    size = 64
    while pen.textlength(text, font=ImageFont.load_default(size)) > 430:
        size -= 2
    pen.text((240, 45), text, font=ImageFont.load_default(size), fill=(250, 245, 235), anchor="mm")
    return np.asarray(picture)


def _street(*signs: tuple[str, Corners], size: tuple[int, int] = (640, 640)) -> Image:
    """A noisy wall under a sky with signs on it; corners run clockwise from the top left."""
    width, height = size
    picture = np.full((height, width, 3), (170, 140, 120), np.float32)
    picture[: height // 3] = (170, 200, 235)
    picture += np.random.default_rng(0).normal(0, 5, picture.shape)
    street = np.clip(picture, 0, 255).astype(np.uint8)
    for i, (text, corners) in enumerate(signs):
        board = _board(text, ((150, 20, 30), (20, 100, 60), (20, 40, 110))[i % 3])
        flat = np.array([(0, 0), (480, 0), (480, 90), (0, 90)], np.float32)
        warp = cv2.getPerspectiveTransform(flat, np.array(corners, np.float32))
        mask = cv2.warpPerspective(np.full(board.shape[:2], 255, np.uint8), warp, size)
        street[mask > 127] = cv2.warpPerspective(board, warp, size, flags=cv2.INTER_AREA)[mask > 127]
    return street


@pytest.fixture(scope="session")
def draw_street() -> DrawStreet:
    return _street


@pytest.fixture(scope="session")
def reader_settings() -> RapidOcrSettings:
    return load_settings(data_folder("platform/models") / "rapidocr.yaml", RapidOcrSettings)


@pytest.fixture(scope="session")
def reader(reader_settings: RapidOcrSettings) -> RapidOcrReader:
    return RapidOcrReader(reader_settings)


@pytest.fixture(scope="session")
def lexicon_settings() -> LexiconSettings:
    return load_settings(data_folder("platform/models") / "sign-lexicon.yaml", LexiconSettings)


@pytest.fixture(scope="session")
def lexicon() -> Lexicon:
    return Models().lexicon("sign-lexicon")


@pytest.fixture(scope="session")
def detector_settings() -> SignDetectorSettings:
    return load_settings(data_folder("platform/models") / "sign-detector.yaml", SignDetectorSettings)
