"""The recipes: each is run on ten rows, and gives what stands below it.

``SPARKEXT_UPDATE_GOLDEN=1 python -m pytest tests/sql/test_recipes.py`` writes the results anew.
"""

from __future__ import annotations

import os

from pyspark.sql import SparkSession

from tests.sql.test_docs import EXAMPLE, PLAIN, ROOT, Example, result
from tests.support.sql_cases import settings

RECIPES = ROOT / "docs" / "recipes.md"
FIRST = "```sql\nCREATE"


def test_recipes(spark: SparkSession) -> None:
    page = RECIPES.read_text()
    begin = page.index(FIRST)
    end = page.index("\n```", begin)
    view = page[begin:end].removeprefix("```sql\n")
    rest = page[end:]
    found = [Example((view, match["sql"]), match["result"].rstrip()) for match in EXAMPLE.finditer(rest)]
    assert len(found) == rest.count("```sql")
    assert len(found) > 9
    with settings(spark, **PLAIN):
        texts = [result(spark, example) for example in found]
    if os.environ.get("SPARKEXT_UPDATE_GOLDEN"):
        fresh = iter(texts)
        RECIPES.write_text(page[:end] + EXAMPLE.sub(lambda m: f"```sql\n{m['sql']}\n```\n\n{next(fresh)}\n", rest))
        return
    for example, text in zip(found, texts, strict=True):
        assert sorted(text.splitlines()) == sorted(example.result.splitlines()), example.statements[-1]
