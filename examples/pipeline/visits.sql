-- The table that the datasets read: seven users, who view pages, put things into the cart and pay.
CREATE TABLE visits USING parquet AS
SELECT
  CAST(id % 7 AS INT) AS user,
  TIMESTAMP '2026-01-01 00:00:00' + make_interval(0, 0, 0, 0, 0, 0, 60 * id) AS ts,
  element_at(array('View', 'Cart', 'Pay'), CAST(1 + id DIV 7 % 3 AS INT)) AS page
FROM range(1000);
