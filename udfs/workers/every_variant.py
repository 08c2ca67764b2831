"""All variants of the kernel, by what machines of them would call it with."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.udfs.completions.completion_machine import CompletionMachine
from sparkext.udfs.completions.kernel_form import Form
from sparkext.udfs.completions.latest_starts import new_starts
from sparkext.udfs.completions.start_program import start_program
from sparkext.udfs.state.assemble import assemble
from sparkext.udfs.state.difference_tables import Differences
from sparkext.udfs.state.fresh import new_guards, new_output, new_state, no_past
from sparkext.udfs.state.pane_tables import new_panes
from sparkext.udfs.state.region_tables import new_regions
from sparkext.udfs.state.span_tables import new_spans
from sparkext.udfs.tables.batch import no_batch
from sparkext.udfs.workers.variants import Arguments, Compilable, CompletionArguments, CountArguments


def every_variant(plan: KernelPlan) -> Iterator[Compilable]:
    """Arguments of each variant, that with the fewest parts first, and those of completions last.

    Args:
        plan: Any plan with completions; parts that it does not have are empty, which makes no difference to what is
            compiled.
    """
    program = assemble(plan)
    state, nothing = new_state(program), np.zeros((0, 3), np.int64)
    whole = Arguments(
        program=program,
        state=state,
        guards=new_guards(program),
        past=no_past(program, 0),
        regions=new_regions(plan, state),
        spans=new_spans(plan, program),
        differences=Differences(nothing, nothing),
        panes=new_panes(plan, program, 1),
        output=new_output(plan, 1),
        batch=no_batch(plan),
    )
    forms = whole._replace(guards=None, past=None, spans=None, differences=None)
    yield forms._replace(regions=None)
    yield forms
    yield forms._replace(regions=None, spans=whole.spans)
    yield whole
    assert plan.completions is not None
    of_completions, held = CompletionMachine(plan, 1, Form(), 1).arrays
    yield CompletionArguments(of_completions, held, no_batch(plan))
    counting = start_program(plan.completions, plan)
    yield CountArguments(counting, new_starts(counting, 1), no_batch(plan))
