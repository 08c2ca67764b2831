-- What docs/explain_sharing.md is about: `sparkext explain --html sharing.html examples/deliveries.sql`.

-- How many events of each type there are in a window. Left out, they would be counted in a sample.
SET spark.sparkext.statistics = {"Request": 1, "Pickup": 200, "Travel": 400, "Delivery": 1, "Cancel": 1};

CREATE TEMP VIEW deliveries AS
SELECT * FROM VALUES
  ('c1', 'north', TIMESTAMP '2024-01-01 10:00:00', 'Request', 0, 0),
  ('c1', 'north', TIMESTAMP '2024-01-01 10:01:00', 'Pickup', 0, 0),
  ('c1', 'north', TIMESTAMP '2024-01-01 10:03:00', 'Travel', 5, 8),
  ('c1', 'north', TIMESTAMP '2024-01-01 10:09:00', 'Delivery', 0, 0)
  AS d(courier, district, at, action, minutes, speed);

-- Rounds of several pickups that end well.
CREATE TEMP VIEW long_rounds AS
SELECT * FROM deliveries MATCH_TREND (
  PARTITION BY courier
  GROUP BY district
  ORDER BY at
  TYPE BY action
  MEASURES COUNT(*) AS rounds
  PATTERN (Request (Pickup Travel)+ Delivery)
  WITHIN INTERVAL 20 MINUTES SLIDE INTERVAL 30 SECONDS
);

-- The same, with the time on the road.
CREATE TEMP VIEW minutes_on_road AS
SELECT * FROM deliveries MATCH_TREND (
  PARTITION BY courier
  GROUP BY district
  ORDER BY at
  TYPE BY action
  MEASURES COUNT(*) AS rounds, SUM(Travel.minutes) AS minutes
  PATTERN (Request (Pickup Travel)+ Delivery)
  WITHIN INTERVAL 20 MINUTES SLIDE INTERVAL 1 MINUTE
);

-- Rounds that end badly.
CREATE TEMP VIEW in_vain AS
SELECT * FROM deliveries MATCH_TREND (
  PARTITION BY courier
  GROUP BY district
  ORDER BY at
  TYPE BY action
  MEASURES COUNT(*) AS rounds
  PATTERN (Request (Pickup Travel)+ Cancel)
  WITHIN INTERVAL 20 MINUTES SLIDE INTERVAL 30 SECONDS
);

-- A single pickup, and straight to the customer.
CREATE TEMP VIEW direct AS
SELECT * FROM deliveries MATCH_TREND (
  PARTITION BY courier
  GROUP BY district
  ORDER BY at
  TYPE BY action
  MEASURES COUNT(*) AS deliveries
  PATTERN (Request Pickup Travel Delivery)
  WITHIN INTERVAL 20 MINUTES
);

-- Cancelled at once, or after a single pickup.
CREATE TEMP VIEW cancelled AS
SELECT * FROM deliveries MATCH_TREND (
  PARTITION BY courier
  GROUP BY district
  ORDER BY at
  TYPE BY action
  MEASURES COUNT(*) AS cancelled
  PATTERN (Request (Pickup Travel)? Cancel)
  WITHIN INTERVAL 20 MINUTES
);

-- Jams: stretches on which couriers are slower and slower.
CREATE TEMP VIEW jams AS
SELECT * FROM deliveries MATCH_TREND (
  PARTITION BY courier
  GROUP BY district
  ORDER BY at
  TYPE BY action
  MEASURES COUNT(*) AS jams
  PATTERN (Travel+)
  DEFINE Travel AS PREV(speed) IS NULL OR Travel.speed < PREV(speed)
  WITHIN INTERVAL 20 MINUTES
);
