"""By hand in Spark SQL: sorted arrays that are folded, window functions, and joins of a table with itself."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from benchmarks.peers.trends import Trend, quoted

_PLACED = """
  SELECT district, driver, window(ts, '20 minutes', '5 minutes').start AS window_start, ts, action
  FROM rides WHERE action IN ({types})
"""


def folded(spark: SparkSession, trends: Sequence[Trend]) -> DataFrame:
    """``aggregate()`` over the sorted events of a key and window, for all trends in one statement."""
    types = tuple(dict.fromkeys(name for trend in trends for name in trend.types))
    folds = ", ".join(f"{_fold(trend)} AS n{number}" for number, trend in enumerate(trends))
    added = ", ".join(f"sum(n{number}) AS n{number}" for number in range(len(trends)))
    stacked = ", ".join(f"{number}, n{number}" for number in range(len(trends)))
    return spark.sql(f"""
        WITH placed AS ({_PLACED.format(types=quoted(types))}),
        sorted AS (
          SELECT district, driver, window_start,
            transform(array_sort(collect_list(struct(ts, action))), event -> event.action) AS actions
          FROM placed GROUP BY district, driver, window_start
        ),
        counted AS (SELECT district, window_start, {folds} FROM sorted),
        added AS (SELECT district, window_start, {added} FROM counted GROUP BY district, window_start)
        SELECT query, district, window_start, n
        FROM added LATERAL VIEW stack({len(trends)}, {stacked}) AS query, n WHERE n > 0""")


def _fold(trend: Trend) -> str:
    a, b, c = trend.types
    again = "2 * s.b" if trend.kleene else "s.b"
    step = f"""named_struct('a', s.a + IF(e = '{a}', 1D, 0D), 'b', IF(e = '{b}', s.a + {again}, s.b),
        'c', s.c + IF(e = '{c}', s.b, 0D))"""
    return f"aggregate(actions, named_struct('a', 0D, 'b', 0D, 'c', 0D), (s, e) -> {step}, s -> s.c)"


def closed_form(spark: SparkSession, trend: Trend) -> DataFrame:
    """With running counts: the n-th repeated event of a window is in sum(a_j 2^(n-j)) trends up to there.

    a_j is the number of first events before the j-th repeated one. There is no such form for patterns with more
    than one repeated part, or for sums of attributes.
    """
    a, b, c = trend.types
    return spark.sql(f"""
        WITH placed AS ({_PLACED.format(types=quoted(trend.types))}),
        counted AS (
          SELECT *, count_if(action = '{a}') OVER events AS a, count_if(action = '{b}') OVER events AS j
          FROM placed WINDOW events AS (PARTITION BY district, driver, window_start ORDER BY ts)
        ),
        weighed AS (
          SELECT *, sum(IF(action = '{b}', a * power(2D, -j), 0D)) OVER events AS weight
          FROM counted WINDOW events AS (PARTITION BY district, driver, window_start ORDER BY ts)
        )
        SELECT 0 AS query, district, window_start, sum(power(2D, j) * weight) AS n
        FROM weighed WHERE action = '{c}' AND weight > 0 GROUP BY district, window_start""")


def joined(spark: SparkSession, trend: Trend) -> DataFrame:
    """Three times the same table, for trends of which nothing is repeated: every trend is a row."""
    a, b, c = trend.types
    return spark.sql(f"""
        WITH placed AS ({_PLACED.format(types=quoted(trend.types))})
        SELECT 0 AS query, one.district, one.window_start, count(*) AS n
        FROM placed AS one
        JOIN placed AS two ON two.driver = one.driver AND two.window_start = one.window_start AND two.ts > one.ts
        JOIN placed AS three ON three.driver = two.driver AND three.window_start = two.window_start
          AND three.ts > two.ts
        WHERE one.action = '{a}' AND two.action = '{b}' AND three.action = '{c}'
        GROUP BY one.district, one.window_start""")
