"""From tokens to a clause: the grammar inside ``MATCH_TREND ( … )``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from sparkext.planner.errors import PlanningError
from sparkext.planner.patterns import pattern_grammar
from sparkext.planner.patterns.pattern_grammar import Lexeme, lexemes, parse_pattern
from sparkext.planner.patterns.query import Selection
from sparkext.sql.clause import Clause, Definition, Expression, Item
from sparkext.sql.lambda_parameters import with_parameters
from sparkext.sql.selection_words import SELECTIONS, is_whole_before, selection_at
from sparkext.sql.spelling import closest
from sparkext.sql.tokens import Token, TokenKind, depth_change, matching, split_at_commas

_SECTIONS = (
    ("PARTITION", "BY"),
    ("GROUP", "BY"),
    ("ORDER", "BY"),
    ("TYPE", "BY"),
    ("MEASURES",),
    ("PATTERN",),
    ("DEFINE",),
    ("WITHIN",),
    ("SLIDE",),
    ("SPAN",),
)
_COMPLETIONS = ("ONE", "ROW", "PER", "COMPLETION")
_OF_MATCHES = "ONE ROW PER MATCH"
_STANDING = (_COMPLETIONS, ("AFTER", "MATCH", "NO", "SKIP"), ("ALL", "MATCHES"))
"""What stands by itself; all but the first say what is so anyway."""
_FOREIGN = {
    ("ONE", "ROW"): (
        _OF_MATCHES,
        "the result already has one row per group and window, and with ONE ROW PER COMPLETION one for each event that "
        "ends a trend",
    ),
    ("ALL", "ROWS"): (
        "ALL ROWS PER MATCH",
        "trends are aggregated and never built, so their events cannot be returned",
    ),
    ("AFTER", "MATCH"): ("AFTER MATCH SKIP", "all trends count, however much they overlap"),
    ("SUBSET",): ("SUBSET", "an aggregate ranges over the events of one variable"),
}
_OF_SELECT = {
    "WHERE": "filter the rows of the relation before it, as in FROM (SELECT * FROM t WHERE …) MATCH_TREND (…)",
    "HAVING": "filter the rows of its result after it, by the WHERE of the SELECT",
    "LIMIT": "it goes after the clause",
}
"""What stands elsewhere in the statement, with where that is."""
_WORDS = tuple(words[0] for words in _SECTIONS)
_FIRST_WORDS = frozenset(words[0] for words in (*_SECTIONS, *_STANDING, *_FOREIGN))
_REQUIRED = ("ORDER BY", "MEASURES", "PATTERN")
_PATTERN_FORM = "the pattern stands in parentheses: PATTERN (A B+)"


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    start: int
    end: int
    tokens: tuple[Token, ...]

    def error(self, problem: str, at: Sequence[Token] = ()) -> PlanningError:
        start, end = (at[0].start, at[-1].end) if at else (self.start, self.end)
        return PlanningError("TREND_CLAUSE_SYNTAX", start, end, problem=problem)


def parse_clause(tokens: Sequence[Token], keyword: Token) -> Clause:
    """The clause that ``tokens``, what stands inside the parentheses, spell.

    Args:
        tokens: Without the parentheses.
        keyword: The word MATCH_TREND.

    Raises:
        PlanningError: With the position of what is wrong.
    """
    tokens = with_parameters(tokens)
    sections = _sections(tokens)
    bare = next((token for token in tokens if token.word == "PATTERN"), None)
    if "PATTERN" not in sections and bare is not None:
        raise PlanningError("TREND_CLAUSE_SYNTAX", bare.start, bare.end, problem=_PATTERN_FORM)
    for name in _REQUIRED:
        if name not in sections:
            _check_spelling(tokens, name)
            raise PlanningError("TREND_CLAUSE_MISSING", keyword.start, keyword.end, clause=name)
    for words in _SECTIONS:
        if (name := " ".join(words)) not in sections and name != "DEFINE":
            # A name before BY is in no expression, and there are no names beside those of units in a window.
            _check_spelling(tokens if len(words) > 1 else _after_within(sections), name)
    if "SLIDE" in sections and "WITHIN" not in sections:
        raise sections["SLIDE"].error("SLIDE needs a WITHIN")
    pattern = sections["PATTERN"]
    within, slide, span = (sections.get(name) for name in ("WITHIN", "SLIDE", "SPAN"))
    completions = _standing(sections)
    order_by, *further_order = _order_by(sections["ORDER BY"])
    whole, wait = _without_wait(pattern)
    return Clause(
        order_by=order_by,
        measures=_measures(sections["MEASURES"]),
        pattern=parse_pattern(_pattern_lexemes(whole), pattern.start, pattern.tokens[-1].start),
        pattern_at=(pattern.start, pattern.tokens[-1].end),
        partition_by=_items(sections.get("PARTITION BY")),
        group_by=_items(sections.get("GROUP BY")),
        type_by=_single(sections["TYPE BY"]) if "TYPE BY" in sections else None,
        define=_definitions(sections.get("DEFINE")),
        within=None if within is None else _length(within),
        slide=None if slide is None else _length(slide),
        span=None if span is None else _length(span),
        selection=_selection(sections),
        further_order=tuple(further_order),
        wait=wait,
        completions_at=None if completions is None else (completions.start, completions.end),
    )


def _sections(tokens: Sequence[Token]) -> dict[str, _Section]:
    starts: list[tuple[int, tuple[str, ...]]] = []
    depth = until = 0
    for at, token in enumerate(tokens):
        depth += depth_change(token)
        if depth == 0 and at >= until and (words := _section_at(tokens, at)):
            starts.append((at, words))
            until = at + len(words)
    if tokens and (not starts or starts[0][0] != 0):
        first = tokens[0]
        _check_not_of_select(first)
        beginnings = ", ".join(" ".join(words) for words in (*_SECTIONS, *SELECTIONS))
        raise PlanningError(
            "TREND_CLAUSE_SYNTAX",
            first.start,
            first.end,
            problem=f"found '{first.text}' where one of {beginnings} was expected{_proposed(tokens, 0)}",
        )
    sections: dict[str, _Section] = {}
    ends = [*(at for at, _ in starts[1:]), len(tokens)]
    for (at, words), following in zip(starts, ends, strict=False):
        name = " ".join(words)
        start, end = tokens[at].start, tokens[at + len(words) - 1].end
        if words in _FOREIGN:
            _check_completions(tokens, at)
            clause, reason = _FOREIGN[words]
            raise PlanningError("TREND_MATCH_RECOGNIZE_CLAUSE", start, end, clause=clause, reason=reason)
        if name in sections:
            raise PlanningError("TREND_CLAUSE_REPEATED", start, end, clause=name)
        sections[name] = _Section(name, start, end, tuple(tokens[at + len(words) : following]))
        if words in SELECTIONS or words in _STANDING:
            continue
        if not sections[name].tokens:
            raise sections[name].error(f"nothing follows {name}")
    return sections


def _check_not_of_select(token: Token) -> None:
    """Refuse a word that a part of SELECT begins with, by saying where that stands."""
    if token.word in _OF_SELECT:
        problem = f"{token.word} is no part of the clause; {_OF_SELECT[token.word]}"
        raise PlanningError("TREND_CLAUSE_SYNTAX", token.start, token.end, problem=problem)


def _check_completions(tokens: Sequence[Token], at: int) -> None:
    """Refuse what was probably meant to be ONE ROW PER COMPLETION."""
    written = tokens[at : at + len(_COMPLETIONS)]
    words, asked = " ".join(token.word for token in written), " ".join(_COMPLETIONS)
    if words != _OF_MATCHES and closest(written[-1].word, _COMPLETIONS[-1:]):
        problem = f"found '{words}'; did you mean {asked}?"
        raise PlanningError("TREND_CLAUSE_SYNTAX", written[0].start, written[-1].end, problem=problem)


def _after_within(sections: dict[str, _Section]) -> Sequence[Token]:
    return [token for name in ("WITHIN", "SLIDE") if name in sections for token in sections[name].tokens[1:]]


def _check_spelling(tokens: Sequence[Token], missing: str) -> None:
    """Refuse a word that was probably meant to begin the section that is missing."""
    depth = 0
    for at, token in enumerate(tokens):
        depth += depth_change(token)
        if depth == 0 and _meant(tokens, at) == missing:
            problem = f"found '{token.text}'{_proposed(tokens, at)}"
            raise PlanningError("TREND_CLAUSE_SYNTAX", token.start, token.end, problem=problem)


def _proposed(tokens: Sequence[Token], at: int) -> str:
    """The section that a misspelled word at ``at`` was meant to begin, as the end of a message."""
    meant = _meant(tokens, at)
    return "" if meant is None else f"; did you mean {meant}?"


def _meant(tokens: Sequence[Token], at: int) -> str | None:
    """The section that the word at ``at`` would begin, were it spelled right; None if it is a column or a name."""
    token, following = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else None
    if not token.word or following is None or following.is_symbol(".") or following.is_symbol(","):
        return None
    if at > 0 and (tokens[at - 1].is_symbol(".") or tokens[at - 1].word == "AS"):
        return None
    first = closest(token.word, _WORDS)
    words = next((words for words in _SECTIONS if words[0] == first and words != (token.word,)), None)
    if words is None:
        return None
    name = " ".join(words)
    if (len(words) > 1) == (following.word == "BY"):
        return name
    # BY is missing, where a section must begin or be, so that the word is no column.
    return name if token.word == first and len(words) > 1 and (at == 0 or name in _REQUIRED) else None


def _section_at(tokens: Sequence[Token], at: int) -> tuple[str, ...]:
    """The words of the section that starts at ``at``; empty when none does."""
    words = _section_words(tokens, at) or selection_at(tokens, at)
    if not words or at == 0 or words in SELECTIONS:
        return words
    following = tokens[at + len(words)] if at + len(words) < len(tokens) else None
    if tokens[at - 1].is_symbol(".") or (following is not None and following.is_symbol(".")):
        return ()  # a column or relation of that name
    if words == ("PATTERN",) and not (following and following.is_symbol("(")):
        return ()  # a column of that name
    if words == ("SPAN",) and not is_whole_before(tokens, at):
        return ()  # a column of that name
    if words == ("WITHIN",) and [token.word or token.text for token in tokens[at + 1 : at + 3]] == ["GROUP", "("]:
        return ()  # of an aggregate of Spark's
    if tokens[at - 1].word == "AS" and (
        following is None or following.is_symbol(",") or _section_words(tokens, at + len(words))
    ):
        return ()  # the name of a measure
    return words


def _section_words(tokens: Sequence[Token], at: int) -> tuple[str, ...]:
    if at == len(tokens) or tokens[at].word not in _FIRST_WORDS:
        return ()
    for words in (*_SECTIONS, *_STANDING, *_FOREIGN):
        if tuple(token.word for token in tokens[at : at + len(words)]) == words:
            return words
    return ()


def _selection(sections: dict[str, _Section]) -> Selection:
    """Which events a trend may leave out."""
    written = [section for name, section in sections.items() if tuple(name.split()) in SELECTIONS]
    if not written:
        return Selection.ANY
    first, *others = written
    if others:
        raise others[0].error(f"{others[0].name} stands beside {first.name}, and a query has one of them")
    if first.tokens:
        raise first.error(f"'{first.tokens[0].text}' follows {first.name}, which stands by itself", first.tokens[:1])
    return Selection(first.name)


def _pattern_lexemes(section: _Section) -> list[Lexeme]:
    first, last = section.tokens[0], section.tokens[-1]
    closing = matching(section.tokens, 0)
    if not first.is_symbol("(") or closing is None:
        raise section.error(_PATTERN_FORM, section.tokens)
    if section.tokens[closing] is not last:
        following = section.tokens[closing + 1]
        _check_not_of_select(following)
        proposed = _proposed(section.tokens, closing + 1)
        problem = f"'{following.text}' follows the parenthesis of PATTERN, which holds the whole pattern{proposed}"
        raise section.error(problem, [following])
    row: list[Lexeme] = []
    for token in section.tokens[1:-1]:
        if token.kind is TokenKind.QUOTED:
            name = token.name or ""
            row.append(Lexeme(pattern_grammar.LexemeKind.QUOTED, name, token.start, token.end))
        elif token.kind is TokenKind.STRING:
            row.append(Lexeme(pattern_grammar.LexemeKind.OTHER, token.text, token.start, token.end))
        else:
            row += lexemes(token.text, token.start)
    return row


def _standing(sections: dict[str, _Section]) -> _Section | None:
    """The section that asks for a row for each completion, if there is one."""
    for words in _STANDING:
        section = sections.get(" ".join(words))
        if section is not None and section.tokens:
            first = section.tokens[0]
            raise section.error(f"'{first.text}' follows {section.name}, which stands by itself", [first])
    return sections.get(" ".join(_COMPLETIONS))


def _without_wait(section: _Section) -> tuple[_Section, Expression | None]:
    """The section of the pattern without ``FOR d`` at its end, and that ``d``.

    Raises:
        PlanningError: ``TREND_FOR_MISPLACED``: it is in parentheses of its own.
    """
    depth = 0
    for at, token in enumerate(section.tokens[:-1]):
        depth += depth_change(token)
        following = section.tokens[at + 1]
        begins = following.word == "INTERVAL" or following.kind in (TokenKind.NUMBER, TokenKind.STRING)
        if token.word != "FOR" or not (begins or following.is_symbol(":")):
            continue
        if depth != 1 or at == 1:
            raise PlanningError(
                "TREND_FOR_MISPLACED", token.start, token.end, problem="it does not stand at the end of the pattern"
            )
        rest = Expression(section.tokens[at + 1 : -1])
        return replace(section, tokens=(*section.tokens[:at], section.tokens[-1])), rest
    return section, None


def _order_by(section: _Section) -> list[Expression]:
    """The event time, and what is ordered by beside it."""
    pieces = split_at_commas(section.tokens)
    if not all(pieces):
        raise section.error("an expression is missing in ORDER BY")
    return [_ordered_by(section, piece) for piece in pieces]


def _ordered_by(section: _Section, tokens: Sequence[Token]) -> Expression:
    if tokens[-1].word == "DESC":
        raise PlanningError("TREND_ORDER_DESCENDING", tokens[-1].start, tokens[-1].end)
    if len(tokens) > 1 and tokens[-2].word == "NULLS":
        raise section.error("NULLS FIRST and NULLS LAST do not apply: a row without a time is in no trend", tokens[-2:])
    if tokens[-1].word == "ASC" and len(tokens) > 1:
        tokens = tokens[:-1]
    return Expression(tuple(tokens))


def _length(section: _Section) -> Expression:
    """What WITHIN, SLIDE or SPAN say, which begins where it does whatever the clause says."""
    offset = next((at for at, token in enumerate(section.tokens) if at > 0 and token.word == "OFFSET"), None)
    if offset is not None and not section.tokens[offset - 1].is_symbol("."):
        problem = (
            "OFFSET does not apply: windows begin at multiples of SLIDE since 1970-01-01, a Thursday; for others, "
            "shift the time and shift windows back, as in ORDER BY ts - INTERVAL 96 HOURS … WITHIN INTERVAL 7 DAYS and "
            "SELECT window_start + INTERVAL 96 HOURS, for weeks that begin on Monday"
        )
        raise section.error(problem, section.tokens[offset : offset + 1])
    return _single(section)


def _single(section: _Section) -> Expression:
    if len(split_at_commas(section.tokens)) != 1:
        raise section.error(f"{section.name} takes one expression")
    return Expression(section.tokens)


def _items(section: _Section | None) -> tuple[Item, ...]:
    if section is None:
        return ()
    return tuple(_item(section, piece) for piece in split_at_commas(section.tokens))


def _item(section: _Section, tokens: list[Token]) -> Item:
    if not tokens:
        raise section.error(f"an expression is missing in {section.name}")
    if len(tokens) > 2 and tokens[-2].word == "AS":
        if tokens[-1].name is None:
            meant = f"; a name that needs quotes stands in backquotes: `{tokens[-1].text[1:-1]}`"
            in_quotes = meant if tokens[-1].kind is TokenKind.STRING else ""
            raise section.error(f"'{tokens[-1].text}' is no name{in_quotes}", tokens[-1:])
        return Item(Expression(tuple(tokens[:-2])), tokens[-1])
    return Item(Expression(tuple(tokens)), None)


def _measures(section: _Section) -> tuple[Item, ...]:
    items = _items(section)
    for item in items:
        if item.name is None:
            raise section.error("a measure needs a name: COUNT(*) AS trips", item.expression.tokens)
        named = _named_within(item.expression.tokens)
        if named is not None:
            problem = f"a comma is missing between the measure {named.text} and what follows it"
            raise section.error(problem, item.expression.tokens)
    return items


def _named_within(tokens: Sequence[Token]) -> Token | None:
    """The name that stands after AS in the middle of a measure, outside of parentheses; None if none does."""
    depth = 0
    for token, following in pairwise(tokens):
        depth += depth_change(token)
        if depth == 0 and token.word == "AS":
            return following
    return None


def _definitions(section: _Section | None) -> tuple[Definition, ...]:
    if section is None:
        return ()
    definitions: list[Definition] = []
    for piece in split_at_commas(section.tokens):
        if len(piece) < 3 or piece[0].name is None or piece[1].word != "AS":
            raise section.error("a definition is written: variable AS condition", piece)
        if _named_within(piece[2:]) is not None:
            problem = f"a comma is missing after the definition of {piece[0].text}"
            raise section.error(problem, piece)
        definitions.append(Definition(piece[0], Expression(tuple(piece[2:]))))
    return tuple(definitions)
