"""Phrases that tell the walker nothing to do, and how to stand at the start."""

from virl.platform.navigators.follower import meanings as read
from virl.platform.navigators.follower.clauses import CloseClause, LandmarkClause, PauseClause
from virl.platform.navigators.follower.parts import NAME_MARK, rule

REMARKS = (
    rule("sentence", ".", r"\.", lambda _: PauseClause(sentence=True)),
    rule("comma", ",", r",", lambda _: PauseClause(sentence=False)),
    rule(
        "name",
        f"past {NAME_MARK}1",
        r"(?P<passed>(?:past|pass|passing|passed|after|before|beyond|leave|leaving|on the way(?: \w+)*) )?"
        rf"(?:(?:on|with|at|by|near) )?(?:the )?{NAME_MARK}(?P<number>\d+)",
        lambda match: LandmarkClause(passed=bool(match["passed"]), name=int(match["number"])),
    ),
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
        r"(?!(?:ignore|ignoring) (?:the )?(?:1st|2nd|next|possible|available) <side>)"
        r"(?:do not|ignore|ignoring|without|not|rather than|instead of|never)(?: \w+){0,3}?"
        r" (?:turn|turning|take|taking|veer|<side>|exit|ramp|enter|entering)(?:(?! but )[^.,])*"
        r"|not to (?:make|take)(?: \w+){0,3} <side>(?:(?! but )[^.,])*",
        lambda _: None,
    ),
    rule(
        "curve",
        "it curves to the left",
        r"(?:street|road|path|lane|way|block|it)"
        r" (?:(?:will|then|just|starts|begins|to|slightly|gently|soon|eventually|and) )*"
        r"(?:curves?|curving|bends?|bending|veers?|veering|winds?|swerves?)"
        r"(?: (?:off|around|slightly|sharply|to|the|a|bit))*(?: <side>)?",
        lambda _: None,
    ),
    rule(
        "the curve",
        "follow the curve to the left",
        r"<go> (?:(?:the|this|your|around|along|with|<side>|hand) )+(?:curved?|bend)"
        r"(?: (?:in|of|the|road|street|around|to|path))*(?: <side>)?",
        lambda _: None,
    ),
    rule(
        "turn that could be",
        "an opportunity to turn left",
        r"(?:(?:an? |the )?(?:option|opportunity|chance)(?: \w+){0,3}? to (?:turn|go|take|veer|make)"
        r"|(?:can|could|may|allows?|lets?|allowed)(?: you)? (?:only|not|either)(?: \w+){0,5}? <side>"
        r"|<side> turn only)[^.,]*",
        lambda _: None,
    ),
    rule(
        "ignored crossing",
        "ignore the first light",
        r"(?:ignore|ignoring|disregard|skip) (?P<place><place>)(?P<twice>)",
        read.read_passing,
    ),
    rule(
        "after you stop",
        "when you stop",
        r"(?:after|when|once|as) you (?:have )?(?:stop|stopped)",
        lambda _: LandmarkClause(),
    ),
    rule(
        "remark",
        "this will be the first light",
        r"(?:this|that|it|which) (?:will|is|should|may|might)(?: be)?(?! (?:your|the) destination)"
        r"(?: \w+){0,3}? (?P<place><place>)",
        lambda match: LandmarkClause(place=read.place(match["place"])),
    ),
    rule(
        "light told",
        "the third light might have a bank",
        r"the (?P<place>(?:last|final|\d+(?:st|nd|rd|th)) (?:<crossing>|1))"
        r"(?: you (?:will )?(?:just )?(?:go|pass|passed|went|cross)(?: (?:straight|through))*)?"
        r" (?:might|may|will|should|has|had|is|was)",
        read.read_reached,
    ),
    rule(
        "between",
        "between the second and third lights",
        r"between (?:the )?(?:<ordinal> and (?:the )?<ordinal>|[2-9]|these|those|them)"
        r"(?: (?:<crossing>|1s))?",
        lambda _: LandmarkClause(),
    ),
    rule(
        "close together",
        "in quick succession",
        r"in quick succession|back to back|right after (?:each other|1 another)"
        r"|close (?:together|to (?:each other|1 another|the (?:<ordinal> )?(?:<crossing>|1)))"
        r"|(?:right )?next to each other",
        lambda _: CloseClause(),
    ),
    rule(
        "soon",
        "almost immediately there will be a street",
        r"(?:almost |very )?(?:immediately|right away|soon|shortly)"
        r"(?: after(?: (?:that|this|it|(?:the|your)(?: \w+){1,2}))?)?(?: ,)?"
        r" (?:there (?:is|will be)|you (?:will )?(?:come to|reach|hit|get to|be at)|be at"
        r"|an?(?= (?:street|side|SIDESTREET)))",
        lambda _: CloseClause(ahead=True),
    ),
    rule(
        "a while",
        "for quite a while",
        r"(?:for )?(?:quite )?a (?:little )?(?:while|long (?:way|time|distance|stretch))"
        r"|on (?:separate|different) blocks",
        lambda _: LandmarkClause(passed=True),
    ),
    rule(
        "its light",
        "without a light",
        r"(?:with|without|has|have|having) (?:(?:an?|no|the|any|its) )?(?:LIGHT|DOUBLE|STOPSIGN|CROSSWALK)",
        lambda _: LandmarkClause(corner=True),
    ),
    rule(
        "across",
        "across the street from a park",
        r"(?:across|over) (?:from|the (?:street|road|way|INTERSECTION))",
        lambda _: LandmarkClause(),
    ),
    rule(
        "bus stop",
        "bus stop",
        r"(?:bus|subway|metro) (?:stops?|station|shelter)",
        lambda _: LandmarkClause(),
    ),
)

START = (
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
        r"and (?:go|face|head|walk|move) (?:with|in)|by(?! (?:turning|(?:taking|making) a) <side> [.,]))|"
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
