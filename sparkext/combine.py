"""Adding up partial results of one group that come from different partition keys and tasks."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from planner.kernel_plan import SCALE_BITS, STUCK_HIGH, Arithmetic, Encoding, Field
from planner.result_columns import BEYOND, VALUE, WORD, field_column

_LOW_HALF = 0xFFFFFFFF
_NO_SCALE = -(1 << 62)
_MAPS = "maps"


def combine_groups(partial: DataFrame, groups: Sequence[str], fields: Sequence[Field], tasks: int) -> DataFrame:
    """One row per group, bank and window, with the same columns as ``partial``.

    Args:
        partial: At most one row per group, bank, window and flush of a task.
        groups: Names of the group columns.
        fields: Output fields of the pool.
        tasks: Number of partitions of the result. It is kept and read as often as there are views, so
            Spark's default of 200 would make every read start 200 tasks.

    Low words of counts are added in 32-bit halves, which cannot overflow for fewer than 2^31 partial rows.
    """
    keys = [*groups, "bank", "`window`"]
    sums: list[str] = []
    results: list[str] = list(keys)
    parts: list[str] = []
    carries: list[str] = []
    for number, field in enumerate(fields):
        name = field_column(number, field)
        match field.arithmetic:
            case Arithmetic.EXACT:
                upper, lower = f"upper_{number}", f"lower_{number}"
                sums += [f"sum(shiftrightunsigned({name}, 32)) AS {upper}", f"sum({name} & {_LOW_HALF}L) AS {lower}"]
                carried = f"({upper} + shiftrightunsigned({lower}, 32))"
                results.append(f"shiftleft({carried}, 32) | ({lower} & {_LOW_HALF}L) AS {name}")
                carries.append(f"shiftrightunsigned({carried}, 32)")
                parts.append(f"struct({number} AS field, {carries[-1]} AS carry, CAST(NULL AS DOUBLE) AS plain)")
            case Arithmetic.NUMBER:
                sums.append(f"sum({name}) AS {name}")
                results.append(name)
                parts.append(f"struct({number} AS field, 0L AS carry, {name} AS plain)")
            case Arithmetic.EXTREME:
                extreme = "min" if field.encoding is Encoding.LEAST else "max"
                sums.append(f"{extreme}({name}) AS {name}")
                results.append(name)
    sums.append(f"collect_list({BEYOND}) AS {_MAPS}")
    fits = " AND ".join([f"size({_MAPS}) = 0", *([f"({' | '.join(carries)}) = 0"] if carries else [])])
    results.append(f"CASE WHEN NOT ({fits}) THEN {_beyond(parts)} END AS {BEYOND}")
    return partial.repartition(tasks, *keys).groupBy(*keys).agg(*map(F.expr, sums)).selectExpr(*results)


def _beyond(parts: Sequence[str]) -> str:
    """SQL of what of a row does not fit 64 bits, out of all that did not in the rows it is made of.

    High words are added, with what low words carry; numbers are added relative to the greatest scale.

    Args:
        parts: Per field a struct of its number, what its low words carry, and its sum of scale 0, NULL for counts.
    """
    held = f"filter(transform({_MAPS}, m -> try_element_at(m, f.field)), h -> h IS NOT NULL)"
    fields = f"transform(array({', '.join(parts)}), f -> struct(f.field, f.carry, f.plain, {held} AS held))"
    fields = f"filter({fields}, f -> f.carry <> 0 OR size(f.held) > 0)"
    words = f"transform(f.held, h -> h.{WORD})"
    high = f"aggregate({words}, f.carry, (t, w) -> least(coalesce(try_add(t, w), {STUCK_HIGH}L), {STUCK_HIGH}L))"
    scale = f"greatest(array_max({words}), IF(f.plain = 0, {_NO_SCALE}L, 0L))"
    top = f"CASE WHEN f.plain IS NULL THEN {high} ELSE {scale} END"
    fields = f"transform({fields}, f -> struct(f.field, f.plain, f.held, {top} AS top))"
    plain = f"CASE WHEN f.plain = 0 THEN 0D ELSE f.plain * {_step('0L - f.top')} END"
    total = f"aggregate(f.held, {plain}, (t, h) -> t + h.{VALUE} * {_step(f'h.{WORD} - f.top')})"
    value = f"CASE WHEN f.plain IS NULL THEN 0D ELSE {total} END"
    return f"map_from_entries(transform({fields}, f -> struct(f.field, struct(f.top AS {WORD}, {value} AS {VALUE}))))"


def _step(scales: str) -> str:
    return f"power(2D, {SCALE_BITS}D * ({scales}))"
