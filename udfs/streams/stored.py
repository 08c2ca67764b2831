"""What is stored of a bucket: a header, and pages of the events of windows that are open."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import astuple, dataclass, field, replace
from typing import Any, Protocol

import pyarrow as pa

from sparkext.planner.kernel_plan.event_form import EventForm
from sparkext.udfs.streams.packs import as_bytes, from_bytes
from sparkext.udfs.tables.program import Ints

FORMAT = 4
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


@dataclass(frozen=True, slots=True)
class CarriedPage:
    """What is carried of some keys beside their events.

    Attributes:
        number: Of the page in its bucket.
        size: In bytes.
        sum: Its CRC-32.
        kinds: Numbers of the kinds of windows that it is about.
        first, last: Of a front, the windows that it is for; of what has been done since then, 0 and -1.
    """

    number: int
    size: int
    sum: int
    kinds: tuple[int, ...]
    first: int = 0
    last: int = -1

    @property
    def is_front(self) -> bool:
        """Whether it is a part of a front."""
        return self.first <= self.last


@dataclass(frozen=True, slots=True)
class CarriedState:
    """What is carried beside events, which can be made of these again.

    Attributes:
        plan: A digest of what is computed.
        until: All events before that time are in it.
        newest: Per kind of windows, the last one that its front is for.
        pages: All of them.
    """

    plan: str
    until: int
    newest: dict[int, int]
    pages: tuple[CarriedPage, ...]

    def written(self) -> list[Any]:
        """In types that JSON has."""
        pages = [[page.number, page.size, page.sum, page.kinds, page.first, page.last] for page in self.pages]
        return [self.plan, self.until, self.newest, pages]

    @classmethod
    def read(cls, plan: str, until: int, newest: dict[str, int], pages: list[list[Any]]) -> CarriedState:
        """What was `written`, after JSON."""
        typed = tuple(CarriedPage(number, size, crc, tuple(kinds), *rest) for number, size, crc, kinds, *rest in pages)
        return cls(plan, until, {int(kind): last for kind, last in newest.items()}, typed)


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
        ahead: See `StreamPlan`; of the last micro-batch.
        seen: The first time of which no event can have come before the last micro-batch, by the watermark and `ahead`.
        until: The watermark, in units of the event time, up to which all windows have been closed.
        tick: The time of the timer that is set, in milliseconds.
        next_page: Number of the page that is made next.
        pages: In the order in which they were made.
        carried: What is carried beside their events, if anything.
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
    ahead: int | None = 0
    seen: int = NEVER
    until: int = NEVER
    tick: int = -1
    next_page: int = 0
    pages: list[Page] = field(default_factory=list)
    carried: CarriedState | None = None

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
        known["carried"] = None if self.carried is None else self.carried.written()
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
        known["carried"] = None if known["carried"] is None else CarriedState.read(*known["carried"])
        stored_pages = [Page(*_PAGE.unpack_from(data, at + number * _PAGE.size)) for number in range(pages)]
        return cls(buckets, until=until, tick=tick, next_page=next_page, pages=stored_pages, **known)


_IN_JSON = "meaning", "forms", "needs", "queries", "whole_from", "has_gaps", "finality", "latest", "ahead", "seen"


def page_bytes(*batches: pa.RecordBatch) -> bytes:
    """Events, or what is carried, as a page, which is its Arrow streams, compressed as a whole."""
    data = b"".join(map(as_bytes, batches))
    return _SIZE.pack(len(data)) + bytes(pa.compress(data, codec="zstd", asbytes=True))


def page_of(number: int, data: bytes, times: Ints, form: int) -> Page:
    """What a header says of a page, whose events have these times and are in a form of that number."""
    return Page(number, len(times), len(data), int(times.min()), int(times.max()), zlib.crc32(data), form)


def page_events(page: Page, data: bytes | None) -> pa.RecordBatch:
    """The events of a page.

    Raises:
        DamagedError: It is not as it was written, or not there.
    """
    return from_bytes(_unpacked(page, data))


def carried_page_of(
    number: int, data: bytes, kinds: tuple[int, ...], windows: tuple[int, int] = (0, -1)
) -> CarriedPage:
    """What a header says of a page of what is carried, of these kinds of windows and, if it is a front, windows."""
    return CarriedPage(number, len(data), zlib.crc32(data), kinds, *windows)


def carried_batches(page: CarriedPage, data: bytes | None) -> list[pa.RecordBatch]:
    """What a page has that `page_bytes` has made.

    Raises:
        DamagedError: It is not as it was written, or not there.
    """
    whole = pa.BufferReader(_unpacked(page, data))
    batches = []
    while whole.tell() < whole.size():
        with pa.ipc.open_stream(whole) as reader:
            batches.append(reader.read_next_batch())
            reader.read_all()  # the mark of its end
    return batches


def _unpacked(page: Page | CarriedPage, data: bytes | None) -> pa.Buffer:
    if data is None or zlib.crc32(data) != page.sum:
        raise DamagedError(f"page {page.number}")
    return pa.decompress(data[_SIZE.size :], _SIZE.unpack_from(data)[0], codec="zstd")
