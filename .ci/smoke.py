"""Whether an installed wheel works: one query whose answer is known, away from the checkout.

Called with the path of the checkout, from which nothing may be imported.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import sparkext

checkout = Path(sys.argv[1]).resolve()
for name in ("sparkext", "sparkext.planner", "sparkext.udfs"):
    place = Path(str(importlib.import_module(name).__file__)).resolve()
    if place.is_relative_to(checkout):
        sys.exit(f"{name} was imported from the checkout: {place}")

spark = sparkext.enable(
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
spark.sql("CREATE TEMP VIEW events AS SELECT * FROM VALUES (1, 'A'), (2, 'B'), (3, 'A'), (4, 'B') AS e(t, kind)")
spark.sql(
    "CREATE TEMP VIEW trends AS SELECT * FROM events MATCH_TREND "
    "(ORDER BY t TYPE BY kind MEASURES COUNT(*) AS n, AVG(A.t) AS mean PATTERN (A+ B))"
)
# a1b2, a1b4, a3b4 and a1a3b4
found = [(int(row.n), row["mean"]) for row in spark.table("trends").collect()]
if found != [(4, 1.8)]:
    sys.exit(f"A+ B over a1 b2 a3 b4 has 4 trends with a mean A.t of 1.8, but {found} came out")
page = sparkext.explain_sharing(spark).html
if "A+ B" not in page or "</html>" not in page:
    sys.exit("the page of the sharing plan is not there")
print(f"sparkext {sparkext.__version__} counts {found[0][0]} trends of A+ B, as it should")
spark.stop()
