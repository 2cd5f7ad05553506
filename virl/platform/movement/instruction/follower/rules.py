"""The grammar: phrases and what they mean, in order. The first that matches at a word is taken.

In a pattern, `<name>` stands for one of `parts.PARTS`, words are in the spelling of `words.normalise`, and a
space is a space. Each rule carries an example, which is tested to be read by that rule. To teach the follower
a phrase, add a word to a part, or a rule before any shorter phrase that would match first.
"""

from virl.platform.movement.instruction.follower import meanings as read
from virl.platform.movement.instruction.follower.clauses import (
    Blocks,
    Go,
    Landmark,
    Pass,
    Pause,
    Place,
    Stop,
    Turn,
    Where,
)
from virl.platform.movement.instruction.follower.parts import rule

_REMARKS = (
    rule("sentence", ".", r"\.", lambda _: Pause(sentence=True)),
    rule("comma", ",", r",", lambda _: Pause(sentence=False)),
    rule(
        "too far",
        "if you reach the light, you have gone too far",
        r"(?:(?:if|once) [^.]*?)?(?:you )?(?:have|has|is|are|went|gone|go)"
        r" (?:gone |went |just |probably |a little |a bit )*too far[^.]*"
        r"|if [^.]*?(?:you (?:have )?(?:missed|passed|overshot|went past)|go back|turn back|back up)[^.]*",
        lambda _: None,
    ),
    rule(
        "ignored turn",
        "do not turn right at the bank",
        r"(?:do not|ignore|ignoring|without|not|rather than|instead of|never)(?: \w+){0,3}?"
        r" (?:turn|turning|take|taking|veer|<side>|exit|ramp|enter|entering)[^.,]*",
        lambda _: None,
    ),
    rule(
        "turn that could be",
        "an opportunity to turn left",
        r"(?:(?:an? |the )?(?:option|opportunity|chance)(?: \w+){0,3}? to (?:turn|go|take|veer|make)"
        r"|(?:can|could|may|allows|lets)(?: you)? (?:only|not|either)(?: \w+){0,5}? <side>"
        r"|<side> turn only)[^.,]*",
        lambda _: None,
    ),
    rule(
        "ignored crossing",
        "ignore the first light",
        r"(?:ignore|ignoring|disregard|skip) (?P<place><place>)(?P<twice>)",
        read.passing,
    ),
    rule(
        "after you stop",
        "when you stop",
        r"(?:after|when|once|as) you (?:have )?(?:stop|stopped)",
        lambda _: Landmark(),
    ),
    rule(
        "remark",
        "this will be the first light",
        r"(?:this|that|it|which) (?:will|is|should|may|might)(?: be)?(?! (?:your|the) destination)"
        r"(?: \w+){0,3}? <place>",
        lambda _: Landmark(),
    ),
    rule(
        "across",
        "across the street from a park",
        r"(?:across|over) (?:from|the (?:street|road|way|INTERSECTION))",
        lambda _: Landmark(),
    ),
    rule(
        "bus stop",
        "bus stop",
        r"(?:bus|subway|metro) (?:stops?|station|shelter)",
        lambda _: Landmark(),
    ),
)

_START = (
    rule(
        "look",
        "look to your right",
        r"(?:look|looking|rotate|face|facing|glance) (?:to |towards? )?(?:the |your )?<side>",
        lambda _: None,
    ),
    rule(
        "orient",
        "turn so that the park is to your left",
        r"(?:(?:please |start (?:out )?by |begin (?:by )?)?"
        r"(?:orient|orienting|align|position|positioning|situate|rotate|spin|angle|pivot|"
        r"(?:turn|stand|face|be|begin|start|turning)(?: around| yourself| your self| out| off)*"
        r" (?:so|such|until|to face|to go|to be|in the|in a|the same|with|away|towards?|facing|yourself|"
        r"and (?:go|face|head|walk|move) (?:with|in)|by)|"
        r"(?:face|facing)(?! (?:<side>|to)))\b)"
        r"[^.]*?(?=(?: ,| and| then| ,? ?and then) <start>| \.|$)",
        read.orient,
    ),
    rule(
        "traffic",
        "with the flow of traffic",
        r"(?:\w+ )?(?:with|against|follow|following|same|opposite|in)"
        r" (?:(?:the|of|direction|as|way|flow|a) )*(?:traffic|cars)(?: flow| is going| are going)?",
        read.orient,
    ),
)

_TURNS = (
    rule(
        "turn around",
        "turn around",
        r"(?:turn(?:ing)? (?:back )?around|(?:make|do|take) a u turn|u turn|go back|head back)",
        lambda _: Turn("around"),
    ),
    rule(
        "turn into",
        "turn onto the right side street",
        r"(?P<verb>(?:turn|turning|go|head|veer)) (?:on|onto|into|down|in) (?:to )?"
        r"(?P<place>the (?P<turned><side>) (?:side )?(?:SIDESTREET|street|fork|road))",
        read.turn,
    ),
    rule(
        "turn to look",
        "turn to your right and you will see a bank",
        r"turn to (?:the |your )?<side>(?=(?: and| ,)? (?:you|look|see|there|to see|facing|find))"
        r"|turn <side> (?:to|and) (?:face|look|see)",
        lambda _: None,
    ),
    rule(
        "turn at",
        "make a left at the next light",
        r"<turned>(?: turn)?(?: (?:again|here|there|too))?(?: only| just| immediately| right)? <at>"
        r" (?P<place><place>|(?:the|that) (?:<which> )*(?:corner|street|road)|(?:it|this|that)<end>)",
        read.turn,
    ),
    rule(
        "turn",
        "take a sharp right",
        r"<turned>(?: turn)?(?P<place>)"
        r"(?! (?:lane|side|hand|corner|of|through|ahead|up to|next to|in front))",
        read.turn,
    ),
    rule(
        "short turn",
        "then right",
        r"(?P<verb>(?:then|and|,)(?: (?:then|another|an?|immediate|immediately|quick|<ordinal>))*)"
        r" (?P<turned><side>)(?P<place>)(?= (?:[.,]|at|onto|when|again|and)|$)",
        read.turn,
    ),
)

_ENDS = (
    rule(
        "steps",
        "a couple of steps after turning",
        r"(?P<number>(?:\d+|an?|SOME|another|more)(?: or (?:so|\d+|SOME))?)"
        r"(?: more| small| big| short| quick)*"
        r" (?:steps?|paces?|feet|moves?|clicks?)(?: or (?:so|2))?(?: (?:forward|ahead|away))?"
        r"(?:(?P<turned> (?:after|past|from|into)(?: \w+){0,2} (?:turn|turning|rounding)"
        r"(?: (?:the corner|<side>|it|onto))*)"
        r"|(?: <just>)?(?P<relation> (?:before|prior to|short of|after|past|from|into|beyond|across|down))"
        r"(?: <arrive>)?(?: (?P<place><place>|<it>))?)?",
        read.steps,
    ),
    rule(
        "fraction",
        "less than halfway down the block",
        r"(?P<hedge>(?:less than|more than|just over|just under|just past|a little (?:less|more) than|"
        r"not quite|almost|nearly|over|under) (?:even )?)?(?P<part>\d+/\d+|\d+ ?%)"
        r"(?: (?:of|the|a|way|down|up|to|through|into|along|between|across|block|this|that|long|street|road|"
        r"about))*"
        r"(?: <place>)?",
        read.fraction,
    ),
    rule(
        "nearly all",
        "almost to the end of the block",
        r"(?:almost|nearly|most of|near|towards?)(?: (?:all|of|the|way|to|down|at|this|that|long))*"
        r" (?:BLOCKEND|ROADEND|end|block)|(?:almost|nearly) (?:all )?(?:the )?(?:way )?(?:to|at) <place>",
        lambda _: Where("at", fraction=0.9),
    ),
    rule(
        "after turning",
        "just after turning",
        r"(?:<just> )?(?:after|upon|once|as soon as|when you|as you)"
        r"(?: (?:you|have|make|made|making|take|taking|the|your|that|this|a))*"
        r" (?:turn|turning|turned|left|right|rounding)(?! (?:at|here))(?: (?:the corner|<side>))?",
        lambda _: Where("after", turned=True),
    ),
)

_PASSES = (
    rule(
        "next block",
        "on the next block",
        r"(?:on|into|onto|down|up|along|across) (?:the |this )?(?:next|2nd|following|subsequent) block",
        lambda _: Pass(1, Place("block")),
    ),
    rule(
        "pass",
        "go straight through the next two lights",
        r"(?:<go> )?(?:(?:straight|directly|right|on|forward|all the way|ahead|going|up|down|and) )*"
        r"(?:through|past|over|cross|crossing|pass|passing|by|passes|pass by|passing by|pass through|"
        r"passing through|cross over|go by)(?: through)?(?: only)?"
        r" (?P<place>(?:(?:<which>|<ordinal>|<number>|and) )*?"
        r"(?:<crossing>|streets?|blocks|corners|lanes|roads)|(?:it|this|that)(?= [.,]| and))"
        r"(?P<twice> twice)?",
        read.passing,
    ),
    rule(
        "straight at",
        "go straight at the next light",
        r"(?:<go> )*straight (?:ahead )?at (?P<place><place>)(?P<twice>)",
        read.passing,
    ),
    rule(
        "blocks",
        "for two blocks",
        r"(?:for )?(?P<number>\d+|SOME|a)(?: (?:more|long|short|city|full|whole))* blocks?(?! (?:away|of))"
        r"(?: (?:down|up|over|ahead))?",
        lambda match: Blocks(read.count(match["number"]), vague=match["number"] == "SOME"),
    ),
)

_PLACES = (
    rule(
        "middle",
        "in the middle of the intersection",
        r"(?P<relation>(?:in|at|to|into) the (?:exact |very )?(?:middle|center|centre)|under|underneath|"
        r"inside|in)"
        r" (?:of )?(?P<place><place>|<it>)",
        read.where,
    ),
    rule(
        "other side",
        "on the other side of the street",
        r"(?:on|to|at|reach) the (?P<relation>other|far) side"
        r"(?: of (?P<place><place>|<it>|the (?:street|road)))?(?! of)",
        read.where,
    ),
    rule(
        "near crossing",
        "just before the next light",
        r"(?:<just> )?(?P<relation>before|prior to|short of|shy of|after|past|beyond)(?: <arrive>)*"
        r" (?P<place><place>|(?:it|this)(?= [.,]| and)|(?<=cross )the street|(?<=crossing )the street)",
        read.where,
    ),
    rule(
        "building",
        "the second building",
        r"(?:the )?(?P<n>\d+)(?:st|nd|rd|th)(?: \w+)?"
        r" (?:building|store|door|shop|entrance|business|house|awning)(?! before)",
        lambda match: Where("at", building=min(int(match["n"]), 9)),
    ),
    rule(
        "stop",
        "stop here",
        r"(?:stop|stops|stopping|halt|come to a (?:stop|halt)|your destination|"
        r"this is (?:the|your) destination|destination is|you have arrived)"
        r"(?P<bare>(?: (?:here|there|now|immediately|right away|again))*(?= (?:[.,]|and)|$))?",
        lambda match: Stop(bare=match["bare"] is not None),
    ),
    rule(
        "after that",
        "immediately afterwards",
        r"<just> (?:after|afterwards|past)(?: (?:that|it|this))?(?= [.,]|$)",
        lambda _: Where("after"),
    ),
    rule("corner shop", "on the far left corner", r"(?:on|with)(?: \w+){0,3} corners?", lambda _: Landmark()),
    rule("reach", "the light", r"(?P<before>before (?:<arrive> )?)?(?P<place><place>)", read.reach),
    rule(
        "landmark passed",
        "passing a bank",
        r"(?:pass|passing|past|passes|by)(?= )",
        lambda _: Landmark(passed=True),
    ),
    rule(
        "landmark",
        "on your left",
        r"on (?:the |your )?(?:near |far )?<side>|next to|in front of|between",
        lambda _: Landmark(),
    ),
    rule(
        "go straight",
        "keep going straight",
        r"(?:<go> )+(?:straight|forward|ahead)",
        lambda _: Go(straight=True),
    ),
    rule("go", "walk down", r"<go>", lambda _: Go()),
)

RULES = _REMARKS + _START + _TURNS + _ENDS + _PASSES + _PLACES
