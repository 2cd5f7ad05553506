"""The pictures of Panoramax: whole, smaller, and in tiles."""

import re
from dataclasses import dataclass

from fastapi import Response

from servers.dispatch import OpenRequest, Refusal
from servers.panoramax.items import columns_of
from servers.panoramax.search import Catalogue
from servers.uploads.painting import Painting, resized
from virl.serve.google.pictures import Painter

SD_WIDTH, THUMB_WIDTH = 2048, 500


@dataclass(frozen=True)
class PictureFiles:
    """Handlers of picture files.

    Args:
        catalogue: knows the pictures.
        painting: draws them.
        painter: encodes them.
    """

    catalogue: Catalogue
    painting: Painting
    painter: Painter

    def hd(self, asked: OpenRequest) -> Response:
        """Answer with the picture as it was uploaded."""
        return self.painter.picture(self.painting.whole(self.catalogue.upload(asked), self.painting.width))

    def sd(self, asked: OpenRequest) -> Response:
        """Answer with the picture, at most 2048 pixels wide."""
        width = min(SD_WIDTH, self.painting.width)
        return self.painter.picture(self.painting.whole(self.catalogue.upload(asked), width))

    def thumb(self, asked: OpenRequest) -> Response:
        """500 pixels wide; of a panorama the middle of a version of 2000 by 1000."""
        upload = self.catalogue.upload(asked)
        if upload.flat:
            return self.painter.picture(resized(self.painting.whole(upload, SD_WIDTH), THUMB_WIDTH))
        return self.painter.picture(self.painting.part(upload, 2000, 750, 350, (THUMB_WIDTH, 300)))

    def tile(self, asked: OpenRequest) -> Response:
        """One tile of the picture as it was uploaded; flat ones have none."""
        upload, width = self.catalogue.upload(asked), self.painting.width
        found = re.fullmatch(r"(\d{1,2})_(\d{1,2})", asked.path["tile"], re.ASCII)
        columns = columns_of(width)
        if upload.flat or not found:
            raise Refusal(404, "Tiles are not available for this picture")
        column, row = int(found[1]), int(found[2])
        if column >= columns or row >= columns // 2:
            raise Refusal(404, "Tile column or row parameter is invalid")
        side = width // columns
        return self.painter.picture(
            self.painting.part(upload, width, column * side, row * side, (side, side))
        )
