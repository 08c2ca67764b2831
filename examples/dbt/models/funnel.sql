-- How many come how far, and how long it takes half of them.
SELECT step, count(DISTINCT user) AS users, percentile(took, 0.5) AS median
FROM {{ ref('reached') }}
GROUP BY step
