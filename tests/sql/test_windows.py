"""WITHIN and SLIDE: which windows there are, and the bounds that results show."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.support.sql_cases import fails, position, relation, results, settings, stream, trends, values

MOMENTS = [
    "1969-12-31 23:41:07.000001",
    "1970-01-01 00:00:00",
    "2024-03-10 06:59:59.999999",  # the last hour of winter time in New York
    "2024-03-10 07:00:00",
    "2024-11-03 05:30:00",  # half past one there, twice
    "2024-11-03 06:30:00",
    "2024-11-03 08:30:00",
    "0001-01-01 00:00:00",
    "9999-12-31 23:59:59.999999",
]
SPANS = [
    ("20 minutes", "20 minutes"),
    ("20 minutes", "7 minutes"),
    ("1 hour 30 minutes", "1 hour"),
    ("1 day", "11 hours"),
    ("9 days", "9 days"),
    ("1 week", "1 week"),
    ("1 microsecond", "1 microsecond"),
    ("2 microseconds", "1 microsecond"),
]
SHOWN = "CAST({start} AS STRING) AS s, CAST({end} AS STRING) AS e"


def moments(spark: SparkSession, type_: str) -> None:
    """Make the moments, of UTC if they are moments in the whole world, a view."""
    zone = "Z" if type_ == "TIMESTAMP" else ""
    relation(spark, "e", "k, t, ty", [f"1, {type_}'{moment}{zone}', 'A'" for moment in MOMENTS])


@pytest.mark.long
@pytest.mark.parametrize(
    ("type_", "zone"),
    [
        ("TIMESTAMP", "UTC"),
        ("TIMESTAMP", "America/New_York"),
        ("TIMESTAMP", "Asia/Kolkata"),
        ("TIMESTAMP_NTZ", "America/New_York"),
    ],
)
def test_windows_are_those_of_spark(spark: SparkSession, type_: str, zone: str) -> None:
    """The same rows as a grouping by Spark's own window function, where that can be written."""
    bounds = SHOWN.format(start="window_start", end="window_end")
    with settings(spark, spark_sql_session_timeZone=zone):
        moments(spark, type_)
        statements = [trends("A", more=f"WITHIN '{d}' SLIDE '{s}'") for d, s in SPANS]
        statements = [f"SELECT {bounds}, n FROM ({statement})" for statement in statements]
        windows = [f"window(t, '{length}', '{slide}')" for length, slide in SPANS]
        spark_statements = [
            f"SELECT {SHOWN.format(start=f'{w}.start', end=f'{w}.end')}, count(*) AS n FROM e GROUP BY {w}"
            for w in windows
        ]
        shown = spark.sql(trends("A", more="WITHIN '1 day'")).dtypes[1:3]
        assert shown == [("window_start", type_.lower()), ("window_end", type_.lower())]
        columns = ("s", "e", "n")
        expected = results(spark, spark_statements, columns)
        for span, result, spark_rows in zip(SPANS, results(spark, statements, columns), expected, strict=True):
            assert result == spark_rows, span
            assert len(result) >= 5


@pytest.mark.parametrize("type_", ["TIMESTAMP", "TIMESTAMP_NTZ"])
def test_gaps_between_moments(spark: SparkSession, type_: str) -> None:
    """The first ten minutes of each hour of Spark's window function."""
    with settings(spark, spark_sql_session_timeZone="Asia/Kolkata"):
        moments(spark, type_)
        years = "(SELECT * FROM e WHERE t > '0002-01-01')"
        frame = spark.sql(trends("A", more="WITHIN '10 minutes' SLIDE '1 hour'", source=years)).drop("k")
        assert values(frame) == values(
            spark.sql(
                f"""SELECT w.start, w.start + INTERVAL 10 MINUTES, count(*)
                FROM (SELECT t, window(t, '1 hour') AS w FROM {years})
                WHERE t < w.start + INTERVAL 10 MINUTES GROUP BY w"""
            )
        )


def test_slide_may_exceed_within(spark: SparkSession) -> None:
    """Windows [0, 3), [10, 13), [-10, -7): events in the gaps are in none."""
    stream(spark, {"x": "a0 a2 b2 b3 a10 b12 b13"})
    assert values(spark.sql(trends("A B", more="WITHIN 3 SLIDE 10"))) == [("x", 0, 3, 1), ("x", 10, 13, 1)]


@pytest.mark.parametrize("type_", ["TINYINT", "SMALLINT", "INT", "BIGINT"])
def test_integral_time(spark: SparkSession, type_: str) -> None:
    relation(
        spark, "e", "t, ty", [f"CAST({time} AS {type_}), '{kind}'" for time, kind in [(-5, "A"), (-3, "B"), (0, "B")]]
    )
    frame = spark.sql(trends("A B", more="WITHIN 6 SLIDE 4", keys="ORDER BY t TYPE BY ty"))
    assert [kind for _, kind in frame.dtypes[:2]] == [spark.table("e").dtypes[0][1]] * 2
    assert values(frame) == [(-8, -2, 1)]


def test_integral_windows_by_hand(spark: SparkSession) -> None:
    """Windows start at the multiples of the slide, below zero too; without SLIDE they do not overlap."""
    stream(spark, {"x": "a1 b3 a5 b6"})
    spark.sql("CREATE OR REPLACE TEMP VIEW below AS SELECT k, t - 9 AS t, ty, v FROM e")
    answers = results(
        spark,
        [
            trends("A B", more="WITHIN 4"),
            trends("A B", more="WITHIN 4 SLIDE 2"),
            trends("A B", more="WITHIN 4", source="below"),
            trends("A B", more="WITHIN 1"),
            trends("A B", more="SLIDE 4 WITHIN 9"),
        ],
        ("window_start", "window_end", "n"),
    )
    assert answers == [
        [(0, 4, 1), (4, 8, 1)],
        [(0, 4, 1), (4, 8, 1)],
        [(-8, -4, 1), (-4, 0, 1)],
        [],
        [(-4, 5, 1), (0, 9, 3), (4, 13, 1)],
    ]


@pytest.mark.long
def test_times_at_the_ends_of_the_type(spark: SparkSession) -> None:
    relation(spark, "e", "t, ty", ["9223372036854775807, 'A'", "-9223372036854775808, 'A'", "0, 'A'"])
    assert values(spark.sql(trends("A+", keys="ORDER BY t TYPE BY ty"))) == [(7,)]
    relation(spark, "e", "t, ty", ["9223372036854775806, 'A'", "-9223372036854775807, 'A'", "0, 'A'"])
    rows = values(spark.sql(trends("A+", more="WITHIN 1", keys="ORDER BY t TYPE BY ty")))
    assert rows == [(t, t + 1, 1) for t in (-9223372036854775807, 0, 9223372036854775806)]


LAST = "'+294247-01-10 04:00:54.775807'"
FIRST = "'-290308-12-21 19:59:06'"
FITTING = {
    ("TINYINT", "100", "20"): ("100", "120"),
    ("TINYINT", "-128", "64"): ("-128", "-64"),
    ("BIGINT", "9223372036854775800", "9223372036854775807"): ("0", "9223372036854775807"),
    ("DATE", "'0001-01-01'", "'7 days'"): ("0000-12-28", "0001-01-04"),
    ("DATE", "'9999-12-31'", "'1 day'"): ("9999-12-31", "+10000-01-01"),
    ("TIMESTAMP", "'-290308-12-23 00:00:00'", "'1 day'"): ("-290308-12-23 00:00:00", "-290308-12-24 00:00:00"),
}
"""Per type, time and WITHIN, the bounds of the window."""

BEYOND = {
    ("TINYINT", "5", "1000"): ("0", None),
    ("TINYINT", "-128", "100"): (None, "-100"),
    ("BIGINT", "9223372036854775807", "10"): ("9223372036854775800", None),
    ("BIGINT", "-9223372036854775807", "10"): (None, None),
    ("DATE", "'+5881580-07-11'", "'70 days'"): ("+5881580-05-15", None),
    ("TIMESTAMP", LAST, "'7 days'"): ("+294247-01-07 00:00:00", None),
    ("TIMESTAMP_NTZ", FIRST, "'700 days'"): (None, None),
}
"""Per type, time and WITHIN of a window with a bound that the type does not have, the bounds shown when ANSI is off.
 Both are NULL where the start is too far out to compute the end from."""

NO_NUMBER = [
    ("BIGINT", "9223372036854775807", "1"),
    ("BIGINT", "-9223372036854775807", "5 SLIDE 1"),
    ("TIMESTAMP_NTZ", LAST, "'1 microsecond'"),
]
"""Windows that would need more than 64 bits to be told apart."""


def one_event(spark: SparkSession, cases: Iterable[tuple[str, str, str]]) -> list[str]:
    """Per case a statement that shows the windows of one event at that time, as strings."""
    statements: list[str] = []
    for number, (type_, time, within) in enumerate(cases):
        relation(spark, f"e{number}", "k, t, ty", [f"1, CAST({time} AS {type_}), 'A'"])
        statement = trends("A", more=f"WITHIN {within}", source=f"e{number}")
        statements.append(f"SELECT {SHOWN.format(start='window_start', end='window_end')} FROM ({statement})")
    return statements


@pytest.mark.long
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_windows_at_the_ends_of_the_type(spark: SparkSession, ansi: str) -> None:
    """Nothing wraps around: a bound that the type does not have is an error, or NULL when ANSI is off."""
    with settings(spark, spark_sql_ansi_enabled=ansi):
        answers = results(spark, one_event(spark, FITTING), ("s", "e"))
        assert dict(zip(FITTING, answers, strict=True)) == {case: [bounds] for case, bounds in FITTING.items()}
        beyond = one_event(spark, BEYOND)
        if ansi == "false":
            answers = results(spark, beyond, ("s", "e"))
            assert dict(zip(BEYOND, answers, strict=True)) == {case: [bounds] for case, bounds in BEYOND.items()}
        for statement in beyond:
            if ansi == "true":
                with pytest.raises(PySparkException) as caught:
                    spark.sql(statement).collect()
                assert "[TREND_TIME_OVERFLOW] A window reaches beyond the range of " in str(caught.value)


def test_windows_that_cannot_be_numbered(spark: SparkSession) -> None:
    for statement in one_event(spark, NO_NUMBER):
        with pytest.raises(PySparkException) as caught:
            spark.sql(statement).collect()
        assert "[TREND_TIME_OVERFLOW] " in str(caught.value)


def test_dates(spark: SparkSession) -> None:
    """A week starts on a Thursday, as 1970-01-01 was one."""
    days = ["2024-02-28", "2024-02-29", "2024-03-06", "1969-12-31"]
    relation(spark, "e", "t, ty", [f"DATE'{day}', 'A'" for day in days])
    frame = spark.sql(trends("A+", more="WITHIN INTERVAL 7 DAYS", keys="ORDER BY t TYPE BY ty"))
    assert [kind for _, kind in frame.dtypes[:2]] == ["date", "date"]
    assert values(frame) == [
        (date(1969, 12, 25), date(1970, 1, 1), 1),
        (date(2024, 2, 22), date(2024, 2, 29), 1),
        (date(2024, 2, 29), date(2024, 3, 7), 3),
    ]


SPELLINGS = {
    "INTERVAL 20 MINUTES": 1200,
    "INTERVAL 20 MINUTE": 1200,
    "interval '20' minute": 1200,
    "INTERVAL '20 minutes'": 1200,
    "INTERVAL '0 00:20:00' DAY TO SECOND": 1200,
    "INTERVAL '1 02:03' DAY TO MINUTE": 93780,
    "INTERVAL '1 02' DAY TO HOUR": 93600,
    "INTERVAL '1 2:03:04' DAY TO SECOND": 93784,
    "INTERVAL '1:30' HOUR TO MINUTE": 5400,
    "INTERVAL '1:30:15' HOUR TO SECOND": 5415,
    "INTERVAL '1:30' MINUTE TO SECOND": 90,
    "INTERVAL '90' SECOND": 90,
    "INTERVAL '0.000001' SECOND": 1e-6,
    "INTERVAL 1 HOUR 30 MINUTES": 5400,
    "INTERVAL 1 DAY 30 SECONDS": 86430,
    "INTERVAL 1 DAY -1 HOUR": 82800,
    "INTERVAL -1 HOUR + INTERVAL 1 DAY": 82800,
    "INTERVAL 1 WEEK": 604800,
    "INTERVAL 2 WEEKS 1 DAY": 1296000,
    "INTERVAL 2.5 SECONDS": 2.5,
    "INTERVAL 3 MILLISECONDS": 0.003,
    "INTERVAL 1 MICROSECOND": 1e-6,
    "(INTERVAL 20 MINUTES) /* twice */ * 2": 2400,
    "make_dt_interval(0, 1, 30)": 5400,
    "make_interval(0, 0, 0, 0, 0, 20, 0)": 1200,
    "CAST('20 minutes' AS INTERVAL)": 1200,
    "CAST('1:30' AS INTERVAL HOUR TO MINUTE)": 5400,
    "TIMESTAMP'2024-03-02' - TIMESTAMP'2024-03-01'": 86400,
    "'20 minutes'": 1200,
    '"20 minutes"': 1200,
    "r'20 minutes'": 1200,
    "'20 ' 'minutes'": 1200,
    "concat('20', ' minutes')": 1200,
    "'1 hour 30 minutes'": 5400,
    "'interval 20 minutes'": 1200,
    "' INTERVAL 1 week 1 day '": 691200,
    "'1 day -1 hour'": 82800,
    "'0 months 1.5 seconds'": 1.5,
    "'3 milliseconds 7 microseconds'": 0.003007,
}
"""Per text of WITHIN, the seconds that it says."""

LEGACY = {
    "INTERVAL 20 MINUTES": 1200,
    "INTERVAL 1 WEEK 30 MINUTES": 606600,
    "INTERVAL 0 MONTHS 1 DAY": 86400,
    "'20 minutes'": 1200,
}
"""The same where literals are of Spark's former type, CALENDAR INTERVAL."""


@pytest.mark.parametrize(("spellings", "legacy"), [(SPELLINGS, "false"), (LEGACY, "true")], ids=["days", "calendar"])
@pytest.mark.long
def test_spellings_of_intervals(spark: SparkSession, spellings: dict[str, float], legacy: str) -> None:
    """WITHIN takes each; SLIDE may stand before it."""
    relation(spark, "e", "k, t, ty", ["1, TIMESTAMP'1970-01-01 00:00:00', 'A'"])
    with settings(spark, spark_sql_legacy_interval_enabled=legacy):
        statements = [trends("A", more=f"SLIDE {text} WITHIN {text}") for text in spellings]
        answers = results(spark, statements, ("window_start", "window_end"))
    lengths = {
        text: [(end - start).total_seconds() for start, end in rows]
        for text, rows in zip(spellings, answers, strict=True)
    }
    assert lengths == {text: [seconds] for text, seconds in spellings.items()}


NUMBERS = {
    "60*20": 1200,
    "CAST(20 AS BIGINT)": 20,
    "CAST('20' AS TINYINT)": 20,
    "7Y + 1S": 8,
    "10 DIV 3": 3,
    "if(1 < 2, 5L, 6)": 5,
    "length('four')": 4,
    "9223372036854775807": 9223372036854775807,
}
"""Per text of WITHIN over numbers, its value."""


@pytest.mark.long
def test_integers_may_be_computed(spark: SparkSession) -> None:
    relation(spark, "e", "k, t, ty", ["1, 0L, 'A'"])
    answers = results(spark, [trends("A", more=f"WITHIN {text}") for text in NUMBERS], ("window_start", "window_end"))
    assert answers == [[(0, value)] for value in NUMBERS.values()]


REFUSED = {
    "TIMESTAMP'2024-01-01'": {
        "INTERVAL 0 SECONDS": "positive",
        "INTERVAL -5 SECONDS": "positive",
        "- INTERVAL 5 SECONDS": "positive",
        "'-5 seconds'": "positive",
        "'1 day -24 hours'": "positive",
        "CAST(NULL AS INTERVAL DAY TO SECOND)": "positive",
        "INTERVAL 1 MONTH": "differ in length",
        "INTERVAL '1' YEAR": "differ in length",
        "INTERVAL '1-2' YEAR TO MONTH": "differ in length",
        "INTERVAL 0 MONTHS": "differ in length",
        "INTERVAL 1 YEAR 2 DAYS": "Cannot mix",
        "INTERVAL '1 month 2 days'": "Cannot mix",
        "'1 month'": "differ in length",
        "'2 days 1 year'": "differ in length",
        "make_interval(0, 1, 0, 1)": "differ in length",
        "''": "is not an interval",
        "'20'": "is not an interval",
        "'five minutes'": "is not an interval",
        "'20 minutes ago'": "is not an interval",
        "'20 minuten'": "is not an interval",
        "'106751992 days'": "longest",
        "INTERVAL 106751992 DAYS": "overflow",
        "INTERVAL 20": "INTERVAL 20 MINUTES",
        "20 MINUTES": "Write WITHIN INTERVAL 20 MINUTES",
        "20": "plain number",
        "60 * 20L": "plain number",
        "1.5": "neither",
        "DATE'2024-01-01'": "neither",
        "true": "neither",
        "NULL": "neither",
        "t": "not a constant",
        "INTERVAL 1 DAY * k": "not a constant",
        "rand()": "not a constant",
        "explode(array(INTERVAL 1 DAY))": "not a constant",
        "(SELECT max(k) FROM e)": "not a constant",
        "1 / 0": "zero",
        "no_such_function()": "no_such_function",
        "INTERVAL 1 SECOND SLIDE 5": "plain number",
        "INTERVAL 1 SECOND SLIDE '0 seconds'": "positive",
        "INTERVAL 1 DAY SLIDE INTERVAL 1 MICROSECOND": "86,400,000,000 windows",
    },
    "DATE'2024-01-01'": {
        "INTERVAL 36 HOURS": "whole days",
        "'1 day 1 microsecond'": "whole days",
        "INTERVAL 7 DAYS SLIDE INTERVAL 1 HOUR": "whole days",
        "INTERVAL 1 MONTH": "differ in length",
        "7": "plain number",
    },
    "1S": {
        "0": "positive",
        "-1": "positive",
        "3 - 5": "positive",
        "CAST(NULL AS INT)": "positive",
        "INTERVAL 1 DAY": "an interval does not apply",
        "INTERVAL 1 MONTH": "an interval does not apply",
        "'20'": "Write WITHIN 20, without quotes",
        "'20 minutes'": "an interval does not apply",
        "20.0": "neither",
        "20D": "neither",
        "9223372036854775808": "neither",
        "9223372036854775807 + 1": "overflow",
        "9223372036854775807 SLIDE 1": "windows",
    },
}
"""Per time, texts of WITHIN that are refused, and words of the error."""


@pytest.mark.parametrize("time", REFUSED)
def test_refused_windows(spark: SparkSession, time: str) -> None:
    """The error stands at the length that is wrong."""
    relation(spark, "e", "k, t, ty", [f"1, {time}, 'A'"])
    for text, words in REFUSED[time].items():
        statement = trends("A", more=f"WITHIN {text}")
        error = fails(spark, statement, "TREND_WINDOW_INVALID")
        wrong = text.partition(" SLIDE ")[2] or text
        assert words in str(error.getMessage()).split("\n== SQL")[0], text
        assert position(error) == (1, statement.rindex(wrong) + 1), text


def test_windows_may_be_parameters(spark: SparkSession) -> None:
    relation(spark, "e", "k, t, ty", ["1, TIMESTAMP'1970-01-01 00:00:00', 'A'"])
    statement = trends("A", more="WITHIN :length SLIDE :slide")
    for slide in (timedelta(minutes=5), "5 minutes"):
        frame = spark.sql(statement, args={"length": timedelta(minutes=10), "slide": slide})
        assert [row.window_start.minute for row in frame.orderBy("window_start").collect()] == [55, 0]


def test_trends_are_counted_in_every_window_that_holds_them(spark: SparkSession) -> None:
    """Windows are half open: [start, end)."""
    stream(spark, {"x": "a0 a4 b5 b9 b10"})
    rows = values(spark.sql(trends("A+ B", more="WITHIN 10 SLIDE 5")))
    assert rows == [("x", 0, 10, 6)]


def test_daylight_saving_does_not_move_windows(spark: SparkSession) -> None:
    """Windows of a day are days of UTC, shown in the time zone of the session."""
    with settings(spark, spark_sql_session_timeZone="America/New_York"):
        relation(
            spark,
            "e",
            "k, t, ty",
            [f"1, TIMESTAMP'{moment}', 'A'" for moment in ("2024-03-09 12:00:00", "2024-03-10 12:00:00")],
        )
        bounds = "CAST(window_start AS STRING) AS s, CAST(window_end AS STRING) AS e"
        rows = spark.sql(f"SELECT {bounds} FROM ({trends('A', more='WITHIN INTERVAL 1 DAY')})")
        assert values(rows) == [
            ("2024-03-08 19:00:00", "2024-03-09 19:00:00"),
            ("2024-03-09 19:00:00", "2024-03-10 20:00:00"),
        ]


def test_time_may_be_an_expression(spark: SparkSession) -> None:
    relation(spark, "e", "k, s, ty", ["1, '2024-01-01 00:00:30', 'A'", "1, 'never', 'A'", "1, NULL, 'A'"])
    keys = "PARTITION BY k ORDER BY try_to_timestamp(s) ASC TYPE BY ty"
    rows = values(spark.sql(trends("A", more="WITHIN '1 minute'", keys=keys)))
    assert [row[0] for row in rows] == [1]
    assert isinstance(rows[0][1], datetime)
    assert rows[0][3] == 1
