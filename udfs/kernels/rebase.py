"""Evaluation of linear forms, and rebasing of regions.

A form is over the totals that its base held when the region was last rebased. So a region is rebased before
its base is changed by events, and before windows open or close. Events of one time are not before each other:
what they add to forms while their base is changed by others of that time is evaluated over the base as it was.
"""

from __future__ import annotations

from sparkext.udfs.jit.compiled import inlined, inner
from sparkext.udfs.kernels.region_forms import VIEWS, add_pending, evaluate_forms, evaluate_pending, rebase
from sparkext.udfs.tables import columns as col


@inlined
def is_due(regions, matched, class_count):
    """Whether an event changes a base or reads what is evaluated."""
    due = False
    for m in range(class_count):
        due |= regions.due[matched[m]] != 0
    return due


@inner
def make_ready(program, state, regions, matched, class_count):
    """Rebase regions whose base an event is about to change, and make the views that it reads."""
    now = regions.now
    for m in range(class_count):
        for n in range(regions.move_ends[matched[m]], regions.move_ends[matched[m] + 1]):
            region = regions.moves[n]
            if now[region, col.REGION_DIRTY]:
                rebase(program, state, regions, region)
            now[region, col.REGION_MOVED] = 1
            regions.unsettled[0] = 1
    for m in range(class_count):
        begin, end = regions.view_ends[matched[m]], regions.view_ends[matched[m] + 1]
        evaluate_forms(state, regions, regions.views, begin, end, VIEWS)


@inlined
def feed(regions, matched, class_count, alone):
    """Note that an event adds to forms; returns whether it may add to totals at once."""
    now = regions.now
    for m in range(class_count):
        for n in range(regions.feed_ends[matched[m]], regions.feed_ends[matched[m] + 1]):
            alone &= now[regions.feeds[n], col.REGION_MOVED] == 0
    if alone and regions.unsettled[0]:
        for m in range(class_count):
            for n in range(regions.move_ends[matched[m]], regions.move_ends[matched[m] + 1]):
                now[regions.moves[n], col.REGION_MOVED] = 0
                now[regions.moves[n], col.REGION_CHANGES] += 1
        regions.unsettled[0] = 0
    for m in range(class_count):
        for n in range(regions.feed_ends[matched[m]], regions.feed_ends[matched[m] + 1]):
            region = regions.feeds[n]
            if alone:
                now[region, col.REGION_DIRTY] = 1
                now[region, col.REGION_CHANGES] += 1
            else:
                now[region, col.REGION_WAITING] = 1
                regions.unsettled[0] = 1
    return alone


@inner
def settle_forms(program, state, regions):
    """Evaluate what is pending in forms whose base is about to change; called before that is moved into totals."""
    now = regions.now
    for region in range(len(now)):
        if now[region, col.REGION_WAITING] and now[region, col.REGION_MOVED]:
            evaluate_pending(program, state, regions, region)
        now[region, col.REGION_CHANGES] += now[region, col.REGION_WAITING] | now[region, col.REGION_MOVED]
        now[region, col.REGION_DIRTY] |= now[region, col.REGION_WAITING]
        now[region, col.REGION_WAITING] = 0
        now[region, col.REGION_MOVED] = 0
    for region in range(len(now)):
        if now[region, col.REGION_LATER]:
            add_pending(state, regions, region)
            now[region, col.REGION_LATER] = 0
    regions.unsettled[0] = 0


@inner
def rebase_all(program, state, regions):
    """Rebase all regions, between two times."""
    for region in range(len(regions.now)):
        if regions.now[region, col.REGION_DIRTY]:
            rebase(program, state, regions, region)


@inlined
def forget_views(regions):
    """Let all views be made anew: windows by panes have started over."""
    regions.seen[:] = -1
