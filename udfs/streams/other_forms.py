"""Events of one form brought to another: what is stored of them may be more, or less, than is needed later."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sparkext.planner.kernel_plan.event_form import EventForm
from sparkext.planner.kernel_plan.kernel_plan import CLASSES_PER_WORD, class_words
from sparkext.udfs.arrow.arrays import as_arrow, as_numbers
from sparkext.udfs.tables.program import Ints


def in_form(events: pa.RecordBatch, stored: EventForm, wanted: EventForm, schema: pa.Schema) -> pa.RecordBatch:
    """Events in another form: those of one of its classes. What has not been stored of them is NULL.

    Args:
        events: As they are stored.
        stored: In which form.
        wanted: In which form they are wanted.
        schema: Of events in that form.
    """
    if stored == wanted:
        return events
    head = len(schema) - len(wanted.columns) - class_words(len(wanted.classes))
    words = _words(events, head, stored, wanted)
    at = {name: head + class_words(len(stored.classes)) + place for place, name in enumerate(stored.columns)}
    kinds = schema.types[len(schema) - len(wanted.columns) :]
    columns = [
        events.column(at[name]) if name in at else pa.nulls(events.num_rows, kind)
        for name, kind in zip(wanted.columns, kinds, strict=True)
    ]
    arrays = [*events.columns[:head], *map(as_arrow, words), *columns]
    is_used = np.any([word != 0 for word in words], axis=0)
    return pa.RecordBatch.from_arrays(arrays, schema.names).take(as_arrow(np.flatnonzero(is_used)))


def _words(events: pa.RecordBatch, head: int, stored: EventForm, wanted: EventForm) -> list[Ints]:
    """Class bits in the order of another form."""
    held = [as_numbers(events.column(head + word), np.int64) for word in range(class_words(len(stored.classes)))]
    words = [np.zeros(events.num_rows, np.int64) for _ in range(class_words(len(wanted.classes)))]
    at = {name: number for number, name in enumerate(stored.classes)}
    for number, name in enumerate(wanted.classes):
        if name in at:
            word, bit = divmod(at[name], CLASSES_PER_WORD)
            words[number // CLASSES_PER_WORD] |= (held[word] >> bit & 1) << number % CLASSES_PER_WORD
    return words
