-- Of each user and hour, in how many ways a view has led into the cart and to a payment.
CREATE MATERIALIZED VIEW purchases AS
SELECT * FROM visits MATCH_TREND (
  PARTITION BY user ORDER BY ts TYPE BY page
  MEASURES COUNT(*) AS ways
  PATTERN (View Cart Pay)
  WITHIN INTERVAL 1 HOUR);

-- The same, as the visits come: an hour has its row once it is over.
CREATE STREAMING TABLE purchases_so_far AS
SELECT * FROM STREAM visits WATERMARK ts DELAY OF INTERVAL 10 MINUTES MATCH_TREND (
  PARTITION BY user ORDER BY ts TYPE BY page
  MEASURES COUNT(*) AS ways
  PATTERN (View Cart Pay)
  WITHIN INTERVAL 1 HOUR);
