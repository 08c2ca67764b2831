"""By which keys Spark knows buckets."""

from __future__ import annotations

_ALL = 0xFFFFFFFF
_SEED = 42


def bucket_keys(buckets: int) -> list[int]:
    """A key for each bucket, such that Spark deals buckets out to tasks in turn, however many tasks there are.

    Spark gives a key to the task that is its hash, Murmur3, modulo the number of tasks. Of 32 bits each is the hash of
    just one key, so the one is taken whose hash is the number of the bucket.
    """
    keys = [_of_hash(number) for number in range(buckets)]
    return [key - (1 << 32) if key >> 31 else key for key in keys]


def _of_hash(value: int) -> int:
    """The 32 bits that have a hash: what `hashInt` of Spark's `Murmur3_x86_32` does, step by step backwards."""
    value ^= value >> 16
    value = _divided(value, 0xC2B2AE35)
    value ^= value >> 13 ^ value >> 26
    value = _divided(value, 0x85EBCA6B)
    value ^= value >> 16
    value ^= 4  # bytes of a key
    value = _divided(value - 0xE6546B64, 5)
    value = _turned(value, 32 - 13) ^ _SEED
    value = _turned(_divided(value, 0x1B873593), 32 - 15)
    return _divided(value, 0xCC9E2D51)


def _divided(value: int, odd: int) -> int:
    """What times an odd number is a value, in 32 bits."""
    return value * pow(odd, -1, 1 << 32) & _ALL


def _turned(value: int, left: int) -> int:
    return (value << left | value >> 32 - left) & _ALL
