"""The recipes: each is run on a few rows, and gives what stands below it.

The rows are compared with those of plain SQL in DuckDB, or with those that ClickHouse has given.

``SPARKEXT_UPDATE_GOLDEN=1 python -m pytest tests/sql/test_recipes.py`` writes the results anew.
"""

from __future__ import annotations

import os
import re

import duckdb
import pytest
from pyspark.sql import SparkSession

from tests.sql.test_docs import EXAMPLE, PLAIN, ROOT, Example, result
from tests.support.sql_cases import settings

RECIPES = ROOT / "docs" / "recipes.md"
FIRST = "```sql\nCREATE"
BY_OTHER_MEANS = {
    "How many users reach each step, and from where?": """
        SELECT country, 'View', count(DISTINCT user) FROM visits WHERE page = 'View' GROUP BY country
        UNION ALL SELECT v.country, 'Cart', count(DISTINCT v.user) FROM visits v JOIN visits c USING (user)
        WHERE v.page = 'View' AND c.page = 'Cart' AND c.ts > v.ts AND c.ts < v.ts + 60 GROUP BY v.country
        UNION ALL SELECT v.country, 'Pay', count(DISTINCT v.user) FROM visits v JOIN visits c USING (user)
        JOIN visits p USING (user) WHERE v.page = 'View' AND c.page = 'Cart' AND p.page = 'Pay'
        AND c.ts > v.ts AND p.ts > c.ts AND p.ts < v.ts + 60 GROUP BY v.country""",
    "An alert with its evidence, over a stream, without windows.": """
        SELECT user, ended, took, '[{' || view || ', View}, {' || cart || ', Cart}, {' || pay || ', Pay}]' FROM (
        SELECT user, p.ts AS ended, p.ts - v.ts AS took, v.id AS view, c.id AS cart, p.id AS pay,
        row_number() OVER (PARTITION BY p.id ORDER BY v.ts DESC, c.ts DESC) AS place
        FROM visits v JOIN visits c USING (user) JOIN visits p USING (user)
        WHERE v.page = 'View' AND c.page = 'Cart' AND p.page = 'Pay' AND c.ts > v.ts AND p.ts > c.ts
        AND p.ts - v.ts < 40) WHERE place = 1""",
    "How long does it take?": """
        SELECT count(*), quantile_cont(took, 0.5), quantile_cont(took, 0.9) FROM (
        SELECT min(p.ts - v.ts) AS took FROM visits v JOIN visits c USING (user) JOIN visits p USING (user)
        WHERE v.page = 'View' AND c.page = 'Cart' AND p.page = 'Pay' AND c.ts > v.ts AND p.ts > c.ts GROUP BY user)""",
    "In which order?": """
        SELECT 'ordered', count(DISTINCT v.user) FROM visits v JOIN visits p USING (user)
        WHERE v.page = 'View' AND p.page = 'Pay' AND p.ts > v.ts
        UNION ALL SELECT 'strict', count(DISTINCT user)
        FROM (SELECT *, lead(page) OVER (PARTITION BY user ORDER BY ts) AS next FROM visits)
        WHERE page = 'View' AND next = 'Pay'
        UNION ALL SELECT 'any order', count(*) FROM (SELECT user FROM visits GROUP BY user
        HAVING count_if(page = 'View') > 0 AND count_if(page = 'Cart') > 0)""",
    "Exclusion:": """
        SELECT count(DISTINCT v.user) FROM visits v JOIN visits c USING (user)
        WHERE v.page = 'View' AND c.page = 'Cart' AND c.ts > v.ts AND NOT EXISTS (
        SELECT 1 FROM visits h WHERE h.user = v.user AND h.page = 'Help' AND h.ts > v.ts AND h.ts < c.ts)""",
    "`sequence by user with maxspan=30 [Cart] ![Pay]`": """
        SELECT user, ts, id FROM visits c WHERE page = 'Cart' AND NOT EXISTS (SELECT 1 FROM visits p
        WHERE p.user = c.user AND p.page = 'Pay' AND p.ts > c.ts AND p.ts < c.ts + 30)""",
    "`sequence by user [View] [Cart] until [Help]`": """
        SELECT user, '[' || v.id || ', ' || c.id || ']' FROM visits v JOIN visits c USING (user)
        WHERE v.page = 'View' AND c.page = 'Cart' AND c.ts > v.ts AND NOT EXISTS (SELECT 1 FROM visits h
        WHERE h.user = v.user AND h.page IN ('Help', 'Cart') AND h.ts > v.ts AND h.ts < c.ts)""",
    "`sequence by user [View] ![Cart] [Pay]`": """
        SELECT user, '[' || v.id || ', ' || p.id || ']' FROM visits v JOIN visits p USING (user)
        WHERE v.page = 'View' AND p.page = 'Pay' AND p.ts > v.ts AND NOT EXISTS (SELECT 1 FROM visits h
        WHERE h.user = v.user AND h.page = 'Cart' AND h.ts > v.ts AND h.ts < p.ts)""",
    "The next page after each view": """
        SELECT next, count(*) FROM (SELECT *, lead(page) OVER (PARTITION BY user ORDER BY ts) AS next FROM visits)
        WHERE page = 'View' AND next IS NOT NULL GROUP BY next""",
    "The most frequent paths": """
        SELECT path, count(*) AS times FROM (SELECT page || ' > ' || lead(page) OVER w || ' > '
        || lead(page, 2) OVER w AS path FROM visits WINDOW w AS (PARTITION BY user ORDER BY ts))
        WHERE path IS NOT NULL GROUP BY path ORDER BY times DESC, path LIMIT 3""",
    "Who came back, by cohort and time?": """
        SELECT first // 20, ts // 20 - first // 20, count(DISTINCT user)
        FROM (SELECT *, min(ts) OVER (PARTITION BY user) AS first FROM visits) GROUP BY ALL""",
    "Sessions": """
        SELECT user, count(*), max(ts)
        FROM (SELECT *, lead(ts) OVER (PARTITION BY user ORDER BY ts) AS next FROM visits)
        WHERE next IS NULL OR next >= ts + 30 GROUP BY user""",
    "A fall and a rise (V).": """
        SELECT '[' || before || ', ' || price || ', ' || after || ']', price
        FROM (SELECT price, lag(price) OVER w AS before, lead(price) OVER w AS after
        FROM (VALUES (1, 9), (2, 7), (3, 4), (4, 6), (5, 8)) AS stock(day, price)
        WINDOW w AS (ORDER BY day)) WHERE price < before AND after > price""",
    "The longest V": """
        WITH stock AS (SELECT * FROM (VALUES (0, 8), (1, 9), (2, 7), (3, 4), (4, 6), (5, 8), (6, 5)) AS s(day, price)),
        turns AS (SELECT day, price >= lag(price) OVER w AND lead(price) OVER w < price AS top,
        price < lag(price) OVER w AND lead(price) OVER w > price AS bottom FROM stock WINDOW w AS (ORDER BY day))
        SELECT day, (SELECT max(day) FROM turns t WHERE t.top AND t.day < b.day),
        (SELECT min(day) FROM turns t WHERE t.top AND t.day > b.day) FROM turns b WHERE bottom""",
    "Three failures, then a success": """
        WITH logins AS (SELECT * FROM (VALUES (1, 'Fail'), (10, 'Fail'), (20, 'Fail'), (30, 'Fail'), (35, 'Success'),
        (99, 'Success')) AS l(ts, what))
        SELECT ts, format('[{}, {}, {}, {}]', c, b, a, ts) FROM (SELECT *, lag(ts) OVER w AS a, lag(ts, 2) OVER w AS b,
        lag(ts, 3) OVER w AS c, lag(what) OVER w || lag(what, 2) OVER w || lag(what, 3) OVER w AS three FROM logins
        WINDOW w AS (ORDER BY ts)) WHERE what = 'Success' AND three = 'FailFailFail' AND ts < c + 60""",
}
"""Recipes by the words that they begin with, in plain SQL without ``MATCH_TREND``, for DuckDB."""
CLICKHOUSE = {
    "`windowFunnel(60)(ts, page = 'View', page = 'Cart', page = 'Pay')`": "ann 3 bob 1 cat 3 eve 3",
    "`windowFunnel(60, 'strict_order')`": "ann 3 bob 1 cat 1 eve 3",
    "`windowFunnel(60, 'strict_deduplication')`": "ann 3 bob 1 cat 3 eve 2",
    "`sequenceMatch('(?1)(?t<=30)(?2)')(ts, page = 'View', page = 'Cart')`": "ann cat eve",
    "`sequenceCount('(?1).*(?2)')(ts, page = 'View', page = 'Pay')`": "ann 1 cat 1 eve 1",
}
"""What version 26.9 gave (``pip install chdb``), of users for whom it is not 0."""


def parts() -> tuple[str, str, str]:
    """The page up to its recipes, the view that they read, and the recipes."""
    page = RECIPES.read_text()
    begin = page.index(FIRST)
    end = page.index("\n```", begin)
    return page[:end], page[begin:end].removeprefix("```sql\n"), page[end:]


def test_recipes(spark: SparkSession) -> None:
    before, view, rest = parts()
    in_page = [Example((view, match["sql"]), match["result"].rstrip()) for match in EXAMPLE.finditer(rest)]
    assert len(in_page) == rest.count("```sql")
    with settings(spark, **PLAIN):
        texts = [result(spark, example) for example in in_page]
    if os.environ.get("SPARKEXT_UPDATE_GOLDEN"):
        fresh = iter(texts)
        RECIPES.write_text(before + EXAMPLE.sub(lambda m: f"```sql\n{m['sql']}\n```\n\n{next(fresh)}\n", rest))
        return
    for example, text in zip(in_page, texts, strict=True):
        assert sorted(text.splitlines()) == sorted(example.result.splitlines()), example.statements[-1]


def by_title() -> dict[str, list[str]]:
    """Rows of the recipes, by the bold words before each."""
    _, _, rest = parts()
    titles: dict[str, list[str]] = {}
    for match in EXAMPLE.finditer(rest):
        title = re.findall(r"^\*\*(.+?)\*\*", rest[: match.start()], re.MULTILINE)[-1]
        assert title not in titles
        titles[title] = sorted(match["result"].splitlines()[2:])
    return titles


def test_all_recipes_are_known_by_other_means() -> None:
    assert by_title().keys() == BY_OTHER_MEANS.keys() | CLICKHOUSE.keys()


@pytest.mark.parametrize("title", BY_OTHER_MEANS)
def test_the_rows_are_those_of_plain_sql(title: str) -> None:
    _, view, _ = parts()
    values = view[view.index("VALUES") : view.index("AS v(")]
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE visits AS SELECT * FROM ({values}) AS v(user, ts, id, page, country)")
        rows = database.execute(BY_OTHER_MEANS[title]).fetchall()
    assert rows
    assert sorted("| " + " | ".join(map(str, row)) + " |" for row in rows) == by_title()[title]


@pytest.mark.parametrize("title", CLICKHOUSE)
def test_the_rows_are_those_of_clickhouse(title: str) -> None:
    assert re.findall(r"\w+", " ".join(by_title()[title])) == CLICKHOUSE[title].split()
