"""Files are divided into statements."""

from __future__ import annotations

import pytest

from sparkext.cli.sql_file import Statement, statements
from sparkext.sql.tokens import TokenError

FILE = """-- a comment; with a semicolon
CREATE TEMP VIEW v AS SELECT ';' AS `a;b`;

;
SELECT *
FROM v MATCH_TREND (ORDER BY t TYPE BY k MEASURES COUNT(*) AS n PATTERN (A+)) /* ; */;
BEGIN
  DECLARE x INT DEFAULT CASE WHEN true THEN 1 ELSE 2 END;
  IF x = 1 THEN SELECT 1; END IF;
  BEGIN SELECT 2; END;
END;
WITH w AS (SELECT 1) SELECT * FROM w; (SELECT 1);
WITH w AS (SELECT 1 AS a) INSERT INTO t SELECT * FROM w;
SHOW TREND QUERIES; SET a = 1"""


def test_division() -> None:
    divided = statements(FILE)
    first_words = [statement.sql.split()[0] for statement in divided]
    assert first_words == ["CREATE", "SELECT", "BEGIN", "WITH", "(SELECT", "WITH", "SHOW", "SET"]
    assert [statement.line for statement in divided] == [2, 5, 7, 12, 12, 13, 14, 14]
    assert [statement.is_query for statement in divided] == [False, True, False, True, True, False, False, False]
    assert [statement.is_shown for statement in divided] == [False] * 6 + [True, False]
    assert [statement.has_trends for statement in divided] == [False, True, *[False] * 6]
    assert divided[2].sql.endswith("BEGIN SELECT 2; END;\nEND")
    assert divided[0] == Statement("CREATE TEMP VIEW v AS SELECT ';' AS `a;b`", 2, False, False, False)


def test_nothing_in_it() -> None:
    assert statements(" -- only a comment\n;;") == []


def test_never_closed() -> None:
    with pytest.raises(TokenError):
        statements("SELECT 'a;")
