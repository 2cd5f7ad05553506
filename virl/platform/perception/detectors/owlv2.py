"""OWLv2; `shared/owl.py` runs both generations."""

from virl.platform.perception.registry import Kind
from virl.platform.perception.shared.owl import OwlSettings, open_owl

KIND = Kind("detector", OwlSettings, open_owl)
