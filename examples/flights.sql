-- # The events

-- One event per flight that was to leave New York in 2013. `departs` is the scheduled departure in local
-- time, `delay` the minutes by which it left late, `kind` what became of it. Flights without a tail number
-- are left out: to PARTITION BY, NULL agrees with NULL, so they would all count as one aircraft.
CREATE TEMP VIEW flights AS
SELECT tailnum, carrier, origin, dest, distance, air_time,
       make_timestamp_ntz(year, month, day, hour, minute, 0) AS departs,
       dep_delay AS delay,
       CASE WHEN dep_delay IS NULL THEN 'Cancelled'
            WHEN dep_delay >= 60 THEN 'VeryLate'
            WHEN dep_delay >= 15 THEN 'Late'
            ELSE 'OnTime' END AS kind
FROM flights_raw
WHERE tailnum IS NOT NULL;

-- # A funnel

-- How does a day go wrong? An aircraft is on time, then late, then very late, all within 12 hours.
CREATE TEMP VIEW wrong_days AS
SELECT * FROM flights MATCH_TREND (
  PARTITION BY tailnum
  ORDER BY departs
  TYPE BY kind
  ONE ROW PER COMPLETION
  MEASURES CLASSIFIER() AS step, FIRST(OnTime.carrier) AS carrier, date(FIRST(departs)) AS day,
           timestampdiff(MINUTE, FIRST(departs), LAST(departs)) AS took,
           EVENTS(concat_ws(' ', date_format(departs, 'HH:mm'), origin, kind)) AS evidence
  PATTERN (FUNNEL(OnTime, Late, VeryLate))
  SPAN INTERVAL 12 HOURS
);

-- How many aircraft come to each step, and how many minutes after the flight that was on time?
SELECT step, count(DISTINCT tailnum) AS aircraft, count(*) AS flights, percentile(took, 0.5) AS median, percentile(took, 0.9) AS p90
FROM wrong_days GROUP BY step ORDER BY flights DESC;

-- What proves it? The quickest of these days, with their flights.
SELECT tailnum, day, took, array_join(evidence, ', ') AS evidence
FROM wrong_days WHERE step = 'VeryLate' ORDER BY took, day, tailnum LIMIT 3;

-- # Trends of one aircraft, a row per carrier and window: a pool

-- How do late departures of an aircraft follow each other within a day?
CREATE TEMP VIEW late_chains AS
SELECT * FROM flights MATCH_TREND (
  PARTITION BY tailnum
  GROUP BY carrier
  ORDER BY departs
  TYPE BY kind
  MEASURES COUNT(*) AS chains, COUNT(Late) / COUNT(*) AS mean_length, AVG(Late.delay) AS mean_delay
  PATTERN (Late+)
  WITHIN INTERVAL 1 DAY
);

-- Delay builds up: on time, then late at least once, then very late.
CREATE TEMP VIEW build_up AS
SELECT * FROM flights MATCH_TREND (
  PARTITION BY tailnum
  GROUP BY carrier
  ORDER BY departs
  TYPE BY kind
  MEASURES COUNT(*) AS chains, AVG(Late.delay) AS mean_before, MAX(VeryLate.delay) AS worst
  PATTERN (OnTime Late+ VeryLate)
  WITHIN INTERVAL 1 DAY
);

-- It starts as in build_up, and ends with a cancelled flight.
CREATE TEMP VIEW cut_short AS
SELECT * FROM flights MATCH_TREND (
  PARTITION BY tailnum
  GROUP BY carrier
  ORDER BY departs
  TYPE BY kind
  MEASURES COUNT(*) AS chains, AVG(Late.delay) AS mean_before
  PATTERN (OnTime Late+ Cancelled)
  WITHIN INTERVAL 1 DAY
);

-- The day is given up: on time, then late or very late for a while, then cancelled.
CREATE TEMP VIEW given_up AS
SELECT * FROM flights MATCH_TREND (
  PARTITION BY tailnum
  GROUP BY carrier
  ORDER BY departs
  TYPE BY kind
  MEASURES COUNT(*) AS chains, COUNT(Late) AS late, COUNT(VeryLate) AS very_late, MIN(Cancelled.departs) AS first_cancelled
  PATTERN (OnTime (Late | VeryLate)+ Cancelled)
  WITHIN INTERVAL 1 DAY
);

-- Delay without warning: on time, and later that day very late.
CREATE TEMP VIEW sudden AS
SELECT * FROM flights MATCH_TREND (
  PARTITION BY tailnum
  GROUP BY carrier
  ORDER BY departs
  TYPE BY kind
  MEASURES COUNT(*) AS chains, AVG(VeryLate.delay) AS mean_delay, MAX(VeryLate.delay) AS worst
  PATTERN (OnTime VeryLate)
  WITHIN INTERVAL 1 DAY
);

-- Delay is worked off: very late, perhaps late for a while, then on time again.
CREATE TEMP VIEW recovery AS
SELECT * FROM flights MATCH_TREND (
  PARTITION BY tailnum
  GROUP BY carrier
  ORDER BY departs
  TYPE BY kind
  MEASURES COUNT(*) AS chains, AVG(VeryLate.delay) AS mean_before, AVG(OnTime.delay) AS mean_after
  PATTERN (VeryLate Late* OnTime)
  WITHIN INTERVAL 1 DAY
);

-- Short hops run late again and again, twice or more. A condition narrows what Late matches.
CREATE TEMP VIEW short_hops AS
SELECT * FROM flights MATCH_TREND (
  PARTITION BY tailnum
  GROUP BY carrier
  ORDER BY departs
  TYPE BY kind
  MEASURES COUNT(*) AS chains, SUM(Late.distance) / COUNT(*) AS miles, MAX(Late.air_time) AS longest_hop
  PATTERN (OnTime Late Late+)
  DEFINE Late AS Late.distance < 500
  WITHIN INTERVAL 1 DAY
);

-- A bad week: three or more very late departures within seven days; a window starts every day.
CREATE TEMP VIEW bad_weeks AS
SELECT * FROM flights MATCH_TREND (
  PARTITION BY tailnum
  GROUP BY carrier
  ORDER BY departs
  TYPE BY kind
  MEASURES COUNT(*) AS chains, AVG(VeryLate.delay) AS mean_delay
  PATTERN (VeryLate VeryLate VeryLate+)
  WITHIN INTERVAL 7 DAYS SLIDE INTERVAL 1 DAY
);

-- # Trends of one aircraft at one airport, a row per airport and window: another pool

-- Where do departures of an aircraft go on being late or very late?
CREATE TEMP VIEW airport_late AS
SELECT * FROM flights MATCH_TREND (
  PARTITION BY tailnum
  GROUP BY origin
  ORDER BY departs
  TYPE BY kind
  MEASURES COUNT(*) AS chains, COUNT(Late) + COUNT(VeryLate) AS departures, AVG(VeryLate.delay) AS mean_very_late
  PATTERN ((Late | VeryLate)+)
  WITHIN INTERVAL 1 DAY
);

-- Where is delay worked off within a day and a half? A window starts at midnight and at noon.
CREATE TEMP VIEW airport_recovery AS
SELECT * FROM flights MATCH_TREND (
  PARTITION BY tailnum
  GROUP BY origin
  ORDER BY departs
  TYPE BY kind
  MEASURES COUNT(*) AS chains, AVG(VeryLate.delay) AS mean_before
  PATTERN (VeryLate Late* OnTime)
  WITHIN INTERVAL 36 HOURS SLIDE INTERVAL 12 HOURS
);

-- # What the pool of carriers says

-- The days with the most chains of late departures. The first query of a pool computes all of its views.
SELECT date(window_start) AS day, carrier, chains, round(mean_length, 2) AS mean_length, round(mean_delay, 1) AS mean_delay
FROM late_chains ORDER BY chains DESC, day LIMIT 5;

-- Who builds delay up, and who works it off? Two views joined like any others.
SELECT name AS airline, sum(up) AS built_up, sum(down) AS worked_off, round(sum(down) / sum(up), 2) AS ratio
FROM (SELECT carrier, chains AS up, 0 AS down FROM build_up UNION ALL SELECT carrier, 0, chains FROM recovery)
JOIN airlines USING (carrier)
GROUP BY name HAVING built_up >= 10 ORDER BY built_up DESC;

-- How much of the delay that builds up ends in a cancelled flight instead of a very late one?
SELECT b.carrier, sum(b.chains) AS very_late, sum(c.chains) AS cancelled, max(b.worst) AS worst_delay
FROM build_up AS b JOIN cut_short AS c USING (carrier, window_start)
GROUP BY b.carrier ORDER BY cancelled DESC LIMIT 5;

-- The days that were given up most, and when the first flight of these chains was cancelled.
SELECT carrier, first_cancelled, chains, late, very_late FROM given_up ORDER BY chains DESC, first_cancelled LIMIT 5;

-- In which months does delay come without warning?
SELECT month(window_start) AS month, sum(chains) AS chains, round(sum(mean_delay * chains) / sum(chains), 1) AS mean_delay, max(worst) AS worst
FROM sudden GROUP BY month ORDER BY chains DESC LIMIT 5;

-- Carriers whose short hops go on being late.
SELECT carrier, sum(chains) AS chains, round(sum(miles * chains) / sum(chains)) AS mean_miles, max(longest_hop) AS longest_hop
FROM short_hops GROUP BY carrier ORDER BY chains DESC LIMIT 5;

-- The worst weeks.
SELECT carrier, date(window_start) AS from_day, date(window_end) AS to_day, chains, round(mean_delay, 1) AS mean_delay
FROM bad_weeks ORDER BY chains DESC LIMIT 5;

-- # What the pool of airports says

-- Chains of late departures at each airport. The first query of the pool again computes all of its views.
SELECT origin, sum(chains) AS chains, round(sum(departures) / sum(chains), 2) AS mean_length, max(mean_very_late) AS worst_daily_mean
FROM airport_late GROUP BY origin ORDER BY chains DESC;

-- Where aircraft get back on time.
SELECT origin, max(chains) AS most_in_a_window, max_by(window_start, chains) AS window_start, round(avg(mean_before), 1) AS mean_before
FROM airport_recovery GROUP BY origin ORDER BY most_in_a_window DESC;

-- # What was computed

-- The sharing plan: three pools, one pass over the flights each. That of the funnel has one view, whose rows are not kept.
EXPLAIN SHARING;
