"""Phrases that say where to turn, and which crossings to go through."""

from virl.platform.navigators.follower import meanings as read
from virl.platform.navigators.follower.clauses import BlocksClause, NamedCrossing, PassClause, TurnClause
from virl.platform.navigators.follower.parts import rule

TURNS = (
    rule(
        "turn around",
        "turn around",
        r"(?:turn(?:ing)? (?:(?:back |all the way )?a?round|back)|(?:make|do|take) a u turn|u turn|go back|"
        r"head back|(?:<go>|take|set off)(?: \w+)? (?:the|your) (?:street|road|way|path) behind you)",
        lambda _: TurnClause("around"),
    ),
    rule(
        "turn into",
        "turn onto the right side street",
        r"(?P<verb>(?:turn|turning|go|head|veer)) (?:on|onto|into|down|in) (?:to )?(?P<place>(?:the|your)"
        r" (?:<ordinal> )?(?P<turned><side>) (?:side )?(?:SIDESTREET|FORK|street|road))",
        read.turn,
    ),
    rule(
        "take a street",
        "take the first right street",
        r"(?P<verb>take|taking|go|going) (?P<place>(?:the|your|a|this) (?:<ordinal> )?(?P<turned><side>)"
        r" (?:SIDESTREET|street(?! light)|road))",
        read.turn,
    ),
    rule(
        "street on a side",
        "take the second street on the left",
        r"(?P<verb>(?:take|taking) (?:the|a|your) (?:<ordinal> )?street) on (?:the|your)"
        r" (?P<turned><side>)(?P<place>)",
        read.turn,
    ),
    rule(
        "fork",
        "take the left fork",
        r"<turned>(?P<place>)(?: (?:side|branch|one))?(?: (?:of|at) (?:the|this))? FORK"
        r"|(?:<turn>|follow)(?: <which>| next)*? FORK (?:to|on) (?:the|your) (?P<to><side>)",
        read.fork,
    ),
    rule(
        "ramp",
        "take the off ramp",
        r"(?:take|taking|use|get on|get off|enter)(?: (?:the|an?|this|next|1st|<side>|hand|off|on|onto))* ?"
        r"(?:off ?ramp|on ?ramp|ramp|exit)(?: (?:on|to|off to) (?:the|your) (?P<turned><side>))?",
        read.ramp,
    ),
    rule(
        "several turns",
        "take the next two rights",
        r"(?P<verb><turn>(?: (?:the|your|next))*) (?P<number><number>)(?: (?:more|sharp|quick))?"
        r" (?P<turned><side>)s?(?: turns)?(?P<place>)",
        read.turns,
    ),
    rule(
        "turn there",
        "there is a street on your left, walk down it",
        r"(?:street|road|SIDESTREET)(?: (?:coming|going|just|up|ahead))*"
        r" (?:on|to) (?:the|your) (?P<turned><side>)(?P<verb>)(?P<place>)(?: [.,])?(?: (?:and|then))?"
        r" (?:(?:go|walk|head|turn) (?:down|into|onto|on|up)(?: to)?"
        r" (?:it<end>|(?:this|that) (?:street|road|SIDESTREET))|(?:turn|go) (?:there|here)<end>)",
        read.turn,
    ),
    rule(
        "turn at several",
        "turn left at the next two lights",
        r"<turned>(?: again)? (?:on|at|in)(?: the)? next (?P<number>\d+) (?P<place><crossing>|streets)",
        read.turns,
    ),
    rule(
        "turn to look",
        "turn to your right and you will see a bank",
        r"turn to (?:the |your )?<side>(?=(?: and| ,)? (?:you|look|see|there|to see|facing|find))"
        r"|turn <side> (?:to|and) (?:face|look|see)",
        lambda _: None,
    ),
    rule(
        "turn or look",
        "turn to your left",
        r"(?P<verb>turn|turning) (?:to|towards) (?:the|your) (?P<turned><side>)(?P<place>)"
        r"(?! (?:<at>|side|corner))",
        read.look_or_turn,
    ),
    rule(
        "turn at",
        "make a left at the next light",
        r"(?:(?:immediately|quickly) )?<turned>(?: turn)?(?: (?:again|here|there|too))?"
        r"(?: only| just| immediately| right)? <at>"
        r" (?P<place><place>|(?:the|that) (?:<which> )*(?:corner|street|road)|(?:it|this|that)<end>"
        r"|the (?:\d+(?:st|nd|rd|th)|next)<end>)",
        read.turn,
    ),
    rule(
        "turn at the end",
        "turn left as soon as you can't go straight",
        r"<turned>(?: turn)? (?:when|where|once|as soon as)(?: you)? (?P<place>(?:the )?ROADEND)",
        read.turn,
    ),
    rule(
        "turn next to",
        "make a right next to the bank",
        r"(?P<verb>(?:make|making|take|taking|hang|hanging)(?: (?:<how>|<ordinal>)){1,3}?) (?P<turned><side>)"
        r"(?P<place>)(?= (?:next to|in front))",
        read.turn,
    ),
    rule(
        "turn",
        "take a sharp right",
        r"(?:(?:immediately|quickly) )?<turned>(?: turn)?(?P<place>)"
        r"(?P<soon> (?:(?:almost )?immediately|right away|at once))?"
        r"(?! (?:lane|side|hand|corner|of|through|ahead(?! [.,])|up to|next to|in front))",
        read.turn,
    ),
    rule(
        "short turn",
        "then right",
        r"(?P<verb>(?:(?:and |, )?(?:then|followed by)"
        r"(?: (?:another|an?|almost|immediate|immediately|quick|quickly|the|your|<ordinal>))*"
        r"|and (?:almost )?(?:immediately|quickly)"
        r"|(?:(?<!left )(?<!right )and|,)"
        r"(?: (?:immediately|quickly|almost|another|an immediate|a quick|the next))*))"
        r" (?P<turned><side>)(?: turn)?(?: at (?P<place><place>)|(?= (?:[.,]|at|onto|around|where|when|again"
        r"|and|followed|on the (?:SIDESTREET|next|1st))|$))",
        read.turn,
    ),
)

PASSES = (
    rule(
        "next block",
        "on the next block",
        r"(?:on|into|onto|down|up|along|across) (?:the |this )?(?:next|2nd|following|subsequent)"
        r" (?:block|street)",
        lambda _: PassClause(1, NamedCrossing("block"), again=True),
    ),
    rule(
        "before passing",
        "before going through the light",
        r"before (?:going|crossing|passing|walking|continuing|heading|you (?:go|cross|pass))"
        r"(?: (?:straight|through|past|over|across))*"
        r" (?P<place>(?:(?:<which>|<ordinal>|<number>) )*?(?:<crossing>|streets?))(?P<twice>)",
        read.passing_then,
    ),
    rule(
        "as you pass",
        "as you go through the intersection",
        r"(?:as soon as|as|while|once|when|after) you (?:are |have |will |just )*"
        r"(?:cross|crossed|crossing|exit|leave|clear"
        r"|(?:go|going|get|pass|passed|walk|move)(?: (?:through|past|over|across))*)"
        r" (?P<place>(?:this|that|the|each) (?:<which> )*(?:<crossing>|street)"
        r"|(?:it|this|that)(?= [.,]| and|$))(?P<twice>)",
        read.passing_again,
    ),
    rule(
        "past it",
        "go past it",
        r"(?:<go> )?(?:(?:straight|right|on|just) )*(?:past|by|pass|passing|passes|pass by)"
        r" (?P<place>(?:it|this|that)(?= [.,]| and|$))(?P<twice>)",
        read.read_passing,
    ),
    rule(
        "pass",
        "go straight through the next two lights",
        r"(?:<go> )?(?:(?:straight|directly|right|on|forward|all the way|ahead|going|up|down|and) )*"
        r"(?:through|past|over|cross|crossing|pass|passing|by|passes|pass by|passing by|pass through|"
        r"passing through|cross over|go by)(?: through)?(?: only)?"
        r" (?P<place>(?:(?:<which>|<ordinal>|<number>|and) )*?"
        r"(?:<crossing>|streets?|blocks|corners|lanes|roads|(?<=the )1s?(?=<soon>))<suffix>"
        r"|(?:it|this|that)(?= [.,]| and)|the (?:<ordinal> 1|1(?= (?:<just> )?after))"
        r"|\d+ (?:crossings?|block))"
        r"(?P<twice> twice)?",
        read.read_passing,
    ),
    rule(
        "and more",
        "and two more lights",
        r"and (?:then )?(?:through )?(?P<place>(?:<number> more|another|[2-9]) <crossing>"
        r"|(?:the )?(?:next|following)(?: <number>)? <crossing>(?= as well| too| with)"
        r"|(?<=then )an? <crossing>(?= [.]))(?P<twice>)",
        read.read_passing,
    ),
    rule(
        "past several",
        "go through both of them",
        r"(?:<go> )?(?:straight )?(?:through|past) (?:2|all)(?: of)?"
        r"(?: (?:them|these|those)|(?= [.,]| and|$))",
        lambda _: PassClause(1, NamedCrossing("intersection", earlier=True)),
    ),
    rule(
        "past a turn",
        "pass the first right turn",
        r"(?:<go> )?(?:(?:straight|right|on) )*(?:past|by|through|pass|passing|passes|ignore|ignoring|skip)"
        r" (?:(?:the|an?|your|any|possible|available|1st|next|2nd|small|narrow) )*"
        r"(?:<side>(?: hand)? turns?|turn option|<side><end>)"
        r"(?: (?:that )?you can (?:make|take))?",
        lambda _: PassClause(1, NamedCrossing("side")),
    ),
    rule(
        "down several",
        "go down two lights",
        r"<go> (?:on )?(?:down|up|for) (?:the )?(?:next )?(?P<number>[2-9]) (?:more )?<crossing>",
        lambda match: BlocksClause(read.count(match["number"])),
    ),
    rule(
        "which you pass",
        "a light which you will go through",
        r"(?:before )?(?P<place><place>)(?P<twice>)(?: ,)? (?:which|that) you (?:will |should |then |can )*"
        r"(?:go|pass|walk|head|continue)(?: straight)? (?:through|past)",
        read.read_passing,
    ),
    rule(
        "to the third from here",
        "to the next three lights",
        r"(?:to|until) (?:the )?next (?P<number>[2-9]) <crossing>",
        lambda match: BlocksClause(read.count(match["number"])),
    ),
    rule(
        "straight at",
        "go straight at the next light",
        r"(?:<go> )*straight (?:ahead )?at (?P<place><place>)(?P<twice>)",
        read.read_passing,
    ),
    rule(
        "blocks",
        "for two blocks",
        r"(?:for )?(?P<number>\d+|SOME|a)(?: (?:more|long|short|city|full|whole))* blocks?(?! (?:away|of))"
        r"(?: (?:down|up|over|ahead))?",
        lambda match: BlocksClause(read.count(match["number"]), vague=match["number"] == "SOME"),
    ),
)
