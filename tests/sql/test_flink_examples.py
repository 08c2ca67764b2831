"""Examples of Flink's page on pattern recognition: the same rows, and results that follow from theirs.

`MATCH_RECOGNIZE` reports one match at a time: of those that begin at the earliest row, the one that its quantifiers
prefer, and then looks on behind it. `MATCH_TREND` aggregates all of them, also those that begin or end within another.
Rows of a match are next to each other there, which is `CONTIGUOUS`. So a greedy match is among the trends, and what is
reported of it is the extreme that its preferences say: the earliest begin, and the latest end. Conditions on sums of
the rows so far, as in the example of average prices, depend on the whole match, and have no counterpart.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from pyspark.sql import SparkSession

from tests.support.sql_cases import relation, trends, values

TICKER = "PARTITION BY symbol ORDER BY rowtime"
DAY = datetime(2011, 4, 1, 10)


def ticker(spark: SparkSession, prices: tuple[int, ...], step: timedelta = timedelta(seconds=1)) -> None:
    """Make a view of prices of one stock, a step apart, from 10:00 on."""
    rows = (f"'ACME', TIMESTAMP'{DAY + index * step}', {price}" for index, price in enumerate(prices))
    relation(spark, "ticker", "symbol, rowtime, price", rows)


def at(seconds: int) -> datetime:
    return DAY + timedelta(seconds=seconds)


def test_a_period_of_falling_prices(spark: SparkSession) -> None:
    """Flink reports a start at 10:00:04, a bottom at 10:00:07 and an end at 10:00:08.

    Two more trends begin later in the same fall.
    """
    ticker(spark, (12, 17, 19, 21, 25, 18, 15, 14, 24, 25, 19))
    measures = (
        "COUNT(*) AS n, MIN(FIRST(rowtime)) AS start, MAX(LAST(Down.rowtime)) AS bottom, MAX(LAST(rowtime)) AS stop,"
        " MAX(LAST(rowtime) - FIRST(rowtime)) AS longest, MIN(LAST(Down.price) - FIRST(price)) AS deepest"
    )
    define = "CONTIGUOUS DEFINE Down AS Down.price < PREV(price), Up AS Up.price > PREV(price)"
    rows = values(spark.sql(trends("Start Down+ Up", measures, f"{define}, Start AS true", TICKER, "ticker")))
    assert rows == [("ACME", 3, at(4), at(7), at(8), timedelta(seconds=4), 14 - 25)]


def test_rising_prices_until_one_falls(spark: SparkSession) -> None:
    """Flink reports that the first price is 10, the top 13 and the last 11; trends begin at each price of the rise."""
    ticker(spark, (10, 12, 13, 11))
    measures = (
        "COUNT(*) AS n, MIN(FIRST(A.price)) AS first, MAX(LAST(A.price)) AS top, MAX(B.price) AS last,"
        " MAX(LAST(A.price) - FIRST(A.price)) AS rise"
    )
    define = "CONTIGUOUS DEFINE A AS PREV(price) IS NULL OR A.price > PREV(price), B AS B.price < PREV(price)"
    assert values(spark.sql(trends("A+ B", measures, define, TICKER, "ticker"))) == [("ACME", 3, 10, 13, 11, 13 - 10)]


def test_greedy_and_reluctant_quantifiers(spark: SparkSession) -> None:
    """From the first row that may begin a match, that of price 11, the greedy ``A B* C`` goes on to 16.

    The reluctant one stops at 13, and finds 16 after a second begin, at 14. Trends stop wherever they may.
    """
    ticker(spark, (10, 11, 12, 13, 14, 16))
    measures = "COUNT(*) AS n, MIN(C.price) AS reluctant, MAX(C.price) AS greedy"
    define = "CONTIGUOUS DEFINE A AS {}, B AS B.price < 15, C AS C.price > 12"
    for begin, expected in (
        ("A.price = 11", (3, 13, 16)),
        ("A.price = 14", (1, 16, 16)),
        ("A.price > 10", (9, 13, 16)),
    ):
        statement = trends("A B* C", measures, define.format(begin), TICKER, "ticker")
        assert values(spark.sql(statement)) == [("ACME", *expected)]


def test_a_drop_within_an_hour(spark: SparkSession) -> None:
    """Flink's WITHIN allows for an hour from first to last: it reports a drop by 14, from 12:00 to 13:00.

    Two trends that begin later end there, too. The price falls by 11 from 10:00 to 11:40, which is too long.
    """
    ticker(spark, (20, 17, 18, 11, 14, 9, 15, 14, 24, 1, 19), timedelta(minutes=20))
    measures = (
        "COUNT(*) AS n, MIN(FIRST(rowtime)) AS start, MIN(C.rowtime) AS stop, MAX(FIRST(price) - LAST(price)) AS most"
    )
    define = "DEFINE A AS {}, C AS C.price < A.price - 10 AND C.rowtime - A.rowtime <= INTERVAL '{}' MINUTE"
    noon, one_o_clock = at(2 * 3600), at(3 * 3600)
    for begin, minutes, expected in (
        ("true", 60, (3, noon, one_o_clock, 24 - 1)),
        ("A.rowtime = TIMESTAMP'2011-04-01 12:00:00'", 60, (1, noon, one_o_clock, 14)),
        ("A.rowtime = TIMESTAMP'2011-04-01 10:00:00'", 100, (1, at(0), at(6000), 20 - 9)),
    ):
        statement = trends("A C", measures, define.format(begin, minutes), TICKER, "ticker")
        assert values(spark.sql(statement)) == [("ACME", *expected)]
