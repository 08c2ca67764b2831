"""Bursts: whether events add to the forms of a region or to the totals that are made from these, burst by burst.

A burst is what feeds a region between two changes of its base. When it begins, the kernel looks ahead in the batch
whether the burst has so many events that sharing pays (`sparkext.planner.compiler.burst_lengths`). If so, its events
add to forms, and totals are evaluated when it has ended. If not, they add to the totals of each query, from totals as
they are, which to the region is a change of its base: its forms are evaluated before, if they have changed. So bursts
that are shared and others may follow each other in any way.
"""

from __future__ import annotations

from sparkext.udfs.jit.compiled import as_index, inlined, inner
from sparkext.udfs.tables import columns as col

# There is no burst; it is not shared as far as the batch went that is over; it is shared; it is not.
_NONE, _OPEN, _SHARED, _ALONE = 0, 1, 2, 3


@inner
def end_bursts(regions):
    """End all bursts, so that new ones begin with the next events."""
    for region in range(len(regions.now)):
        regions.now[region, col.REGION_MODE] = _NONE


@inner
def look_again(regions):
    """Let the bursts that are not shared be looked at again, as another batch has come."""
    for region in range(len(regions.now)):
        if regions.now[region, col.REGION_MODE] == _ALONE:
            regions.now[region, col.REGION_MODE] = _OPEN


@inlined
def choose(regions, batch, row, turn, matched, class_count, by_class):
    """Add the parts that an event is of to its classes, or put them in their place.

    Args:
        regions: `sparkext.udfs.state.region_tables.Regions`; changed.
        batch: `sparkext.udfs.arrow.batches.Batch`.
        row: Of the event.
        turn: First time at which windows open or close.
        matched: Classes of the event; changed.
        class_count: How many these are.
        by_class: Whether more is asked of classes than what their events do to totals and forms.

    Returns:
        How many classes and parts there are.
    """
    now, choices, ends = regions.now, regions.choices, regions.choice_ends
    for m in range(class_count):
        begin, end = regions.ended_ends[matched[m]], regions.ended_ends[matched[m] + 1]
        for n in range(as_index(begin), as_index(end)):
            now[as_index(regions.ended[n]), col.REGION_MODE] = _NONE
    parts = class_count
    for m in range(class_count):
        for n in range(as_index(ends[matched[m]]), as_index(ends[matched[m] + 1])):
            region = as_index(choices[n, col.CHOICE_REGION])
            if now[region, col.REGION_MODE] <= _OPEN:
                _begin(regions, batch, row, turn, region, choices[n, col.CHOICE_LEAST])
            is_shared = now[region, col.REGION_MODE] == _SHARED
            now[region, col.REGION_EVENTS] += is_shared
            part = choices[n, col.CHOICE_SHARED] if is_shared else choices[n, col.CHOICE_ALONE]
            if choices[n, col.CHOICE_IS_ALL] and not by_class:
                matched[m] = part
                break
            matched[parts] = part
            parts += 1
    return parts


@inner
def _begin(regions, batch, row, turn, region, least):
    """Choose for the burst that an event begins, or that a batch ended in."""
    now = regions.now
    now[region, col.REGION_BURSTS] += now[region, col.REGION_MODE] == _NONE
    is_shared = _is_long(regions, batch, row, turn, region, least)
    now[region, col.REGION_SHARED] += is_shared
    now[region, col.REGION_MODE] = _SHARED if is_shared else _ALONE


@inner
def _is_long(regions, batch, row, turn, region, least):
    """Whether so many events of the burst that an event begins are in sight."""
    times, new_key, classes, masks = batch.time, batch.new_key, batch.classes, regions.masks
    seen, ahead = 1, row + 1
    if least > len(times) - row:
        return False
    while seen < least and ahead < len(times) and new_key[ahead] == 0 and times[ahead] < turn:
        feeds = ends = False
        for word in range(classes.shape[1]):
            feeds |= classes[ahead, word] & masks[region, col.FEEDING, word] != 0
            ends |= classes[ahead, word] & masks[region, col.ENDING, word] != 0
        if ends:
            break
        seen += feeds
        ahead += 1
    return seen >= least
