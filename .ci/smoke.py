"""Whether an installed package works: a query whose answer is known, away from the checkout, and in Spark's own prompt.

Called with the path of the checkout, from which nothing may be imported.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import sqlglot
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

sql = "SELECT n FROM events MATCH_TREND (ORDER BY t TYPE BY kind MEASURES COUNT(*) AS n PATTERN (A+ B))"
if sqlglot.transpile(sql, read="sparkext", write="sparkext") != [sql]:
    sys.exit("sqlglot does not find the dialect")

programs = Path(sys.executable).parent
said = subprocess.run([programs / "sparkext", "--version"], capture_output=True, text=True)
if said.stdout.strip() != sparkext.__version__:
    sys.exit(f"sparkext --version does not say {sparkext.__version__}: {said.stdout}{said.stderr}")

if not (checkout / "extension" / "jars" / "sparkext.jar").exists():
    print("there was no JDK to make the jar")
    sys.exit(0)
script = Path("trends.sql")
script.write_text(
    "SELECT n FROM VALUES (1, 'A'), (2, 'B'), (3, 'A'), (4, 'B') AS e(t, kind) MATCH_TREND "
    "(ORDER BY t TYPE BY kind MEASURES COUNT(*) AS n PATTERN (A+ B));\n"
)
settings = ("ui.enabled=false", "sql.catalogImplementation=in-memory", "sql.extensions=sparkext.Extension")
options = ["--master", "local[2]", *(part for setting in settings for part in ("--conf", f"spark.{setting}"))]
said = subprocess.run(
    [programs / "spark-sql", *options, "-f", script],
    env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
    capture_output=True,
    text=True,
)
if said.stdout.strip() != "4":
    sys.exit(f"Spark's own prompt does not know the clause: {said.stdout}{said.stderr}")
print("Spark's own spark-sql counts them, too")
