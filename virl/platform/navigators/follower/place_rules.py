"""Phrases that say where something is: a crossing, a shop, the end of the walk."""

import re

from virl.platform.navigators.follower import meanings as read
from virl.platform.navigators.follower.clauses import (
    GoClause,
    LandmarkClause,
    NamedCrossing,
    ReachClause,
    StopClause,
    WhereClause,
)
from virl.platform.navigators.follower.parts import rule

LAST_BUILDING = 0.7
"""Fraction of the block at "the last store"; measured on the three sets of the last version, 12 texts."""

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
