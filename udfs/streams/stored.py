"""What is stored of a bucket: a header, and pages of the events of windows that are open."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from sparkext.udfs.streams.packs import as_bytes, from_bytes
from sparkext.udfs.tables.program import Ints

FORMAT = 2
"""Version of how states are written."""

NEVER = -(1 << 63)
"""The time up to which all windows are closed before there is a watermark."""

_MAGIC = b"TRND"
_HEADER = struct.Struct("<4sHIqqIII")
_PAGE = struct.Struct("<IIIqqI")
_SIZE = struct.Struct("<Q")
_SUM = struct.Struct("<I")


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
    """

    number: int
    rows: int
    size: int
    first: int
    last: int
    sum: int


@dataclass(slots=True)
class Header:
    """What is known of a bucket.

    Attributes:
        buckets: How many buckets there are.
        meaning: What is computed: parts of the query by what people call them.
        until: The watermark, in units of the event time, up to which all windows have been closed.
        tick: The time of the timer that is set, in milliseconds.
        next_page: Number of the page that is made next.
        pages: In the order in which they were made.
    """

    buckets: int
    meaning: dict[str, str]
    until: int = NEVER
    tick: int = -1
    next_page: int = 0
    pages: list[Page] = field(default_factory=list)

    def write(self) -> bytes:
        """The header as bytes, little endian."""
        meaning = json.dumps(self.meaning).encode()
        head = _HEADER.pack(
            _MAGIC, FORMAT, self.buckets, self.until, self.tick, self.next_page, len(meaning), len(self.pages)
        )
        pages = (_PAGE.pack(page.number, page.rows, page.size, page.first, page.last, page.sum) for page in self.pages)
        data = b"".join([head, meaning, *pages])
        return data + _SUM.pack(zlib.crc32(data))

    @classmethod
    def read(cls, data: bytes) -> Header:
        """The header that bytes hold.

        Raises:
            ValueError: They are no header, or one of another version.
            DamagedError: They are not as they were written.
        """
        if data[:4] != _MAGIC or len(data) < _HEADER.size:
            raise ValueError("it was not written by sparkext")
        _, version, buckets, until, tick, next_page, size, pages = _HEADER.unpack_from(data)
        if version != FORMAT:
            raise ValueError(f"it was written in format {version} by another version of sparkext, which has {FORMAT}")
        if data[-_SUM.size :] != _SUM.pack(zlib.crc32(data[: -_SUM.size])):
            raise DamagedError("the header")
        at = _HEADER.size + size
        meaning = json.loads(data[_HEADER.size : at])
        stored_pages = [Page(*_PAGE.unpack_from(data, at + number * _PAGE.size)) for number in range(pages)]
        return cls(buckets, meaning, until, tick, next_page, stored_pages)


def page_bytes(events: pa.RecordBatch) -> bytes:
    """Events as a page, which is their Arrow stream, compressed as a whole."""
    data = as_bytes(events)
    return _SIZE.pack(len(data)) + bytes(pa.compress(data, codec="zstd", asbytes=True))


def page_of(number: int, data: bytes, times: Ints) -> Page:
    """What a header says of a page, whose events have these times."""
    return Page(number, len(times), len(data), int(times.min()), int(times.max()), zlib.crc32(data))


def page_events(page: Page, data: bytes | None) -> pa.RecordBatch:
    """The events of a page.

    Raises:
        DamagedError: It is not as it was written, or not there.
    """
    if data is None or zlib.crc32(data) != page.sum:
        raise DamagedError(f"page {page.number}")
    return from_bytes(pa.decompress(data[_SIZE.size :], _SIZE.unpack_from(data)[0], codec="zstd"))
