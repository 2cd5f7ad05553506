"""The grammar: phrases and what they mean, in order. The first that matches at a word is taken.

In a pattern, `<name>` stands for one of `parts.PARTS`, words are in the spelling of `words.normalise`, and a
space is a space. Each rule carries an example, which is tested to be read by that rule. To teach the follower
a phrase, add a word to a part, or a rule before any shorter phrase that would match first.
"""

from virl.platform.movement.instruction.follower.place_rules import ENDS, PLACES
from virl.platform.movement.instruction.follower.remark_rules import REMARKS, START
from virl.platform.movement.instruction.follower.route_rules import PASSES, TURNS

RULES = REMARKS + START + TURNS + ENDS + PASSES + PLACES
