"""The phrases that the grammar knows: where to turn, where something is, and remarks that ask for nothing."""

import re
from dataclasses import replace

from virl.platform.navigators.follower import grammar as read
from virl.platform.navigators.follower.clauses import (
    BlocksClause,
    CloseClause,
    GoClause,
    LandmarkClause,
    NamedCrossing,
    PassClause,
    PauseClause,
    ReachClause,
    StopClause,
    TurnClause,
    WhereClause,
)
from virl.platform.navigators.follower.grammar import NAME_MARK, rule

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
        lambda match: TurnClause(
            read.side(match["turned"] or match["to"]), NamedCrossing("fork"), slight=True
        ),
    ),
    rule(
        "ramp",
        "take the off ramp",
        r"(?:take|taking|use|get on|get off|enter)(?: (?:the|an?|this|next|1st|<side>|hand|off|on|onto))* ?"
        r"(?:off ?ramp|on ?ramp|ramp|exit)(?: (?:on|to|off to) (?:the|your) (?P<turned><side>))?",
        lambda match: TurnClause(read.side(match["turned"] or "right"), slight=True),
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
        lambda match: replace(read.turn(match), looks=True),
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
        lambda match: replace(read.read_passing(match), then=True),
    ),
    rule(
        "as you pass",
        "as you go through the intersection",
        r"(?:as soon as|as|while|once|when|after) you (?:are |have |will |just )*"
        r"(?:cross|crossed|crossing|exit|leave|clear"
        r"|(?:go|going|get|pass|passed|walk|move)(?: (?:through|past|over|across))*)"
        r" (?P<place>(?:this|that|the|each) (?:<which> )*(?:<crossing>|street)"
        r"|(?:it|this|that)(?= [.,]| and|$))(?P<twice>)",
        lambda match: replace(read.read_passing(match), again=True),
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


LAST_BUILDING = 0.7
"""Share of a block, 0 to 1, to walk to "the last store" on it; measured on three sets, 12 texts."""

ENDS = (
    rule(
        "steps",
        "a couple of steps after turning",
        r"(?P<number>(?:\d+|an?|SOME|another|more)(?: or (?:so|\d+|SOME))?)"
        r"(?: more| small| big| short| quick)*"
        r" (?:steps?|paces?|feet|moves?|clicks?|stops?(?= (?:before|after|past)))"
        r"(?: or (?:so|2))?(?: (?:forward|ahead|away))?"
        r"(?:(?P<turned> (?:after|past|from|into)(?: \w+){0,2} (?:turn|turning|rounding)"
        r"(?: (?:the corner|<side>|it|onto))*)"
        r"|(?: <just>)?(?P<relation> (?:before|prior to|short of|after|past|from|into|beyond|across|down"
        r"|on the (?:other|far) side of))"
        r"(?: <arrive>)?(?: (?P<place><place>|<it>))?(?P<thing>(?= (?!and )[^ .,]))?)?",
        read.steps,
    ),
    rule(
        "part of a building",
        "halfway down the first building",
        r"(?:1/[234]|3/4)(?: (?:of|the|way|down|along|through|past|about))* the"
        r" (?P<n>\d+)(?:st|nd|rd|th) (?:building|store|shop|storefront|business)",
        lambda match: WhereClause("at", building=min(int(match["n"]), 9)),
    ),
    rule(
        "fraction",
        "less than halfway down the block",
        r"(?P<hedge>(?:less than|more than|just over|just under|just past|a little (?:less|more) than|"
        r"not quite|almost|nearly|over|under) (?:even )?)?(?P<part>[1-9]/[2-9]|\d+ ?%)"
        r"(?: (?:of|the|a|way|down|up|to|through|into|along|between|across|block|this|that|long|street|road|"
        r"about))*"
        r"(?: (?P<place><place>))?",
        read.fraction,
    ),
    rule(
        "nearly all",
        "almost to the end of the block",
        r"(?:almost|nearly|most of|near|towards?)(?: (?:all|of|the|way|to|down|up|at|this|that|next|long))*"
        r" (?:BLOCKEND|ROADEND|(?:end|block)(?! of))"
        r"|(?:almost|nearly) (?:all )?(?:the )?(?:way )?(?:to|at) <place>",
        lambda _: WhereClause("at", fraction=0.9),
    ),
    rule(
        "after turning",
        "just after turning",
        r"(?:<just> )?(?:after|upon|once|as soon as|when you|as you)"
        r"(?! (?:that|this) (?:take|make|turn))"
        r"(?: (?:you|have|make|made|making|take|taking|the|your|that|this|a))*"
        r" (?:turn|turning|turned|left|right|rounding)(?! (?:at|here))(?: (?:the corner|<side>))?",
        lambda _: WhereClause("after", turned=True),
    ),
)

PLACES = (
    rule(
        "middle of block",
        "in the middle of the block",
        r"(?:in |at |near |past )?(?:the )?(?:very |exact )?(?:middle|center|centre)"
        r" of (?:the|this|that) (?:next |long )?block",
        lambda _: WhereClause("at", fraction=0.5),
    ),
    rule(
        "long block",
        "continue down the long block",
        r"(?:(?:<go>|straight|all|the|way) )*(?:down |up |along )?(?:the|this|that|a)(?: (?:very|fairly))?"
        r" long block",
        lambda _: GoClause(long=True),
    ),
    rule(
        "middle",
        "in the middle of the intersection",
        r"(?P<relation>(?:in|at|to|into) the (?:exact |very )?(?:middle|center|centre)|under|underneath|"
        r"inside|in)"
        r" (?:of )?(?P<place><place>|<it>)",
        read.place_clause,
    ),
    rule(
        "exit",
        "exit the intersection",
        r"(?:exit|leave|clear) (?:the|this) (?P<place><crossing>)",
        lambda match: WhereClause("after", read.place(match["place"])),
    ),
    rule(
        "other side",
        "on the other side of the street",
        r"(?:on|to|at|reach) the (?P<relation>other|far) side"
        r"(?: of (?P<place><place>|<it>|the (?:street|road)))?(?! of)",
        read.place_clause,
    ),
    rule(
        "near crossing",
        "just before the next light",
        r"(?:<just> )?(?P<relation>before|prior to|short of|shy of|after|past|beyond)(?: <arrive>)*"
        r" (?P<place><place>|(?:it|this)(?= [.,]| and)|(?<=cross )the street|(?<=crossing )the street)",
        read.place_clause,
    ),
    rule(
        "last building",
        "the last store on the block",
        r"(?:the )?(?:(?:2nd|next) to (?:the )?)?last (?:\w+ )?"
        r"(?:building|store|shop|storefront|business|restaurant)",
        lambda _: WhereClause("at", fraction=LAST_BUILDING),
    ),
    rule(
        "building",
        "the second building",
        r"(?:the )?(?P<n>\d+)(?:st|nd|rd|th)(?: \w+)?"
        r" (?:building|store|door|shop|entrance|business|house|awning)(?! before)",
        lambda match: WhereClause("at", building=min(int(match["n"]), 9)),
    ),
    rule(
        "stop",
        "stop here",
        r"(?:stop|stops|stopping|halt|come to a (?:stop|halt)|your destination|"
        r"this is (?:the|your) destination|mark (?:this|that|it)|"
        r"(?<=and )end(?= (?:in|at|by|near|just|right|here))|destination is|you have arrived|"
        r"already (?:there|here)|(?:there|here) already)"
        r"(?P<bare>(?: (?:here|there|now|immediately|right away|right here|again))*(?= (?:[.,]|and)|$))?",
        lambda match: StopClause(
            match["bare"] is not None, here=re.search(r"\bhere$|already", match[0]) is not None
        ),
    ),
    rule(
        "the second",
        "under the second.",
        r"(?:<just> )?(?P<relation>under|in|before|past|after)"
        r" (?P<place>the (?:\d+(?:st|nd|rd|th)|next|following)(?: 1)?)(?= [.,]|$)",
        read.place_clause,
    ),
    rule(
        "one after",
        "the lights immediately after",
        r"(?:<which> )*(?:<crossing>|1s?) <just> after(?: (?:that|it|this|those))?(?= [.,]|$)",
        lambda _: ReachClause(NamedCrossing("intersection", following=True)),
    ),
    rule(
        "after that",
        "immediately afterwards",
        r"<just> (?:after|afterwards|past)(?: (?:that|it|this))?(?= [.,]|$)",
        lambda _: WhereClause("after"),
    ),
    rule(
        "corner shop",
        "on the far left corner",
        r"(?:on|with|at|by|near)(?: \w+){0,4} corners?",
        lambda _: LandmarkClause(corner=True),
    ),
    rule(
        "reach the nth",
        "at the fourth, with a bank on the corner",
        r"(?P<before>)(?:at|to|until|reach) (?P<place>the \d+(?:st|nd|rd|th)(?= (?:with|[.,])))",
        read.reach,
    ),
    rule("reach", "the light", r"(?P<before>before (?:<arrive> )?)?(?P<place><place>)", read.reach),
    rule(
        "landmark passed",
        "passing a bank",
        r"(?:pass|passing|past|passes|by)(?= )",
        lambda _: LandmarkClause(passed=True),
    ),
    rule(
        "landmark",
        "on your left",
        r"on (?:the |your )?(?:near |far )?<side>|next to|in front of|between",
        lambda _: LandmarkClause(),
    ),
    rule(
        "go straight",
        "keep going straight",
        r"(?:<go> )+(?:straight|forward|ahead)",
        lambda _: GoClause(straight=True),
    ),
    rule("go", "walk down", r"<go>", lambda _: GoClause()),
)


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
        lambda match: ReachClause(read.place(match["place"]), told=True),
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
