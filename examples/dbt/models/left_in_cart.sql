-- Who has put something into the cart, and has not paid within twenty minutes.
SELECT user, since
FROM {{ ref('visits') }} MATCH_TREND (
  PARTITION BY user ORDER BY minute TYPE BY page
  ONE ROW PER COMPLETION
  MEASURES LAST(minute) AS since
  PATTERN (Cart NOT Pay FOR 20))
