-- A row for each step that a visitor reaches, as a view: who reads it computes it.
{{ config(materialized='view') }}

SELECT user, step, took
FROM {{ ref('visits') }} MATCH_TREND (
  PARTITION BY user ORDER BY minute TYPE BY page
  ONE ROW PER COMPLETION
  MEASURES CLASSIFIER() AS step, LAST(minute) - FIRST(minute) AS took
  PATTERN (FUNNEL(View, Cart, Pay)))
