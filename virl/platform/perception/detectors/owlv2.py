"""OWLv2; `owlvit.py` runs both generations."""

from virl.platform.perception.detectors.owlvit import OwlSettings, open_owl
from virl.platform.perception.registry import Kind

KIND = Kind("detector", OwlSettings, open_owl)
