"""What is stored of a bucket: a header, and pages of the events of windows that are open."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import astuple, dataclass, field, replace
from typing import Protocol

import pyarrow as pa

from sparkext.planner.kernel_plan.event_form import EventForm
from sparkext.udfs.streams.packs import as_bytes, from_bytes
from sparkext.udfs.tables.program import Ints

FORMAT = 3
"""Version of how states are written."""

NEVER = -(1 << 63)
"""The time up to which all windows are closed before there is a watermark."""

_MAGIC = b"TRND"
_HEADER = struct.Struct("<4sHIqqIII")
_PAGE = struct.Struct("<IIIqqII")
_SIZE = struct.Struct("<Q")
_SUM = struct.Struct("<I")


class UnusableError(Exception):
    """A state is of no use for what is to be computed; the text says why, and what to do."""


class DamagedError(Exception):
    """Something is not as it was written; the text is its name."""


class Store(Protocol):
    """Keeps the bytes of one bucket."""

    def header(self) -> bytes | None:
        """The header; None if the bucket has none yet."""

    def put_header(self, data: bytes) -> None:
        """Replace the header."""

    def page(self, number: int) -> bytes | None:
        """A page; None if there is none of that number."""

    def put_page(self, number: int, data: bytes) -> None:
        """Add a page."""

    def drop_page(self, number: int) -> None:
        """Forget a page."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the events of a bucket.

    Attributes:
        number: Of the page in its bucket.
        rows: How many events it has.
        size: In bytes.
        first, last: The least and the greatest time of them.
        sum: Its CRC-32.
        form: Number of the form of its events.
    """

    number: int
    rows: int
    size: int
    first: int
    last: int
    sum: int
    form: int


@dataclass(slots=True)
class Header:
    """What is known of a bucket.

    Attributes:
        buckets: How many buckets there are.
        meaning: Of keys, time and order, by what people call them.
        forms: Of the events of its pages.
        needs: From which time on there are all events of a class, or columns of them, by the names of a `StreamPlan`.
        queries: From which time on all events that it needs are there, by the text of a query.
        whole_from: The time from which on no event has been dropped.
        has_gaps: Whether later ones may have been, as they were between windows.
        finality: See `StreamPlan`.
        latest: The time of the latest event that has come.
        until: The watermark, in units of the event time, up to which all windows have been closed.
        tick: The time of the timer that is set, in milliseconds.
        next_page: Number of the page that is made next.
        pages: In the order in which they were made.
    """

    buckets: int
    meaning: dict[str, str]
    forms: list[EventForm] = field(default_factory=list)
    needs: dict[str, int] = field(default_factory=dict)
    queries: dict[str, int] = field(default_factory=dict)
    whole_from: int = NEVER
    has_gaps: bool = False
    finality: list[int | None] = field(default_factory=list)
    latest: int = NEVER
    until: int = NEVER
    tick: int = -1
    next_page: int = 0
    pages: list[Page] = field(default_factory=list)

    def form_number(self, form: EventForm) -> int:
        """Number of a form, which is added if it is not there."""
        if form not in self.forms:
            self.forms.append(form)
        return self.forms.index(form)

    def write(self) -> bytes:
        """The header as bytes, little endian. Forms of which there is no page are left out."""
        used = sorted({page.form for page in self.pages})
        numbers = {number: place for place, number in enumerate(used)}
        self.pages = [replace(page, form=numbers[page.form]) for page in self.pages]
        self.forms = [self.forms[number] for number in used]
        known = {name: getattr(self, name) for name in _IN_JSON} | {"forms": [astuple(form) for form in self.forms]}
        text = zlib.compress(json.dumps(known).encode(), 1)
        head = _HEADER.pack(
            _MAGIC, FORMAT, self.buckets, self.until, self.tick, self.next_page, len(text), len(self.pages)
        )
        data = b"".join([head, text, *(_PAGE.pack(*astuple(page)) for page in self.pages)])
        return data + _SUM.pack(zlib.crc32(data))

    @classmethod
    def read(cls, data: bytes) -> Header:
        """The header that bytes hold.

        Raises:
            UnusableError: They are no header, or one of another version.
            DamagedError: They are not as they were written.
        """
        if data[:4] != _MAGIC or len(data) < _HEADER.size:
            raise UnusableError("it was not written by sparkext")
        _, version, buckets, until, tick, next_page, size, pages = _HEADER.unpack_from(data)
        if version != FORMAT:
            other = f"it was written in format {version} by another version of sparkext, which has {FORMAT}"
            raise UnusableError(other)
        if data[-_SUM.size :] != _SUM.pack(zlib.crc32(data[: -_SUM.size])):
            raise DamagedError("the header")
        at = _HEADER.size + size
        known = json.loads(zlib.decompress(data[_HEADER.size : at]))
        known["forms"] = [EventForm(tuple(classes), tuple(columns)) for classes, columns in known["forms"]]
        stored_pages = [Page(*_PAGE.unpack_from(data, at + number * _PAGE.size)) for number in range(pages)]
        return cls(buckets, until=until, tick=tick, next_page=next_page, pages=stored_pages, **known)


_IN_JSON = "meaning", "forms", "needs", "queries", "whole_from", "has_gaps", "finality", "latest"


def page_bytes(events: pa.RecordBatch) -> bytes:
    """Events as a page, which is their Arrow stream, compressed as a whole."""
    data = as_bytes(events)
    return _SIZE.pack(len(data)) + bytes(pa.compress(data, codec="zstd", asbytes=True))


def page_of(number: int, data: bytes, times: Ints, form: int) -> Page:
    """What a header says of a page, whose events have these times and are in a form of that number."""
    return Page(number, len(times), len(data), int(times.min()), int(times.max()), zlib.crc32(data), form)


def page_events(page: Page, data: bytes | None) -> pa.RecordBatch:
    """The events of a page.

    Raises:
        DamagedError: It is not as it was written, or not there.
    """
    if data is None or zlib.crc32(data) != page.sum:
        raise DamagedError(f"page {page.number}")
    return from_bytes(pa.decompress(data[_SIZE.size :], _SIZE.unpack_from(data)[0], codec="zstd"))
