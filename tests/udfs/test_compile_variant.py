"""What the process that compiles changes of numba: nothing but how long it takes."""

from __future__ import annotations

from random import Random

from numba.core.compiler import Flags

from sparkext.udfs.workers.compile_variant import _are_equal, _hash_of

OPTIONS = ("no_compile", "error_model", "boundscheck", "forceinline")


def drawn(random: Random) -> Flags:
    """Flags of which some are set, some of these to what they are by default."""
    flags = Flags()
    for name in random.sample(OPTIONS, random.randint(0, len(OPTIONS))):
        default = Flags.options[name].default
        setattr(flags, name, random.choice((default, "numpy" if name == "error_model" else True)))
    return flags


def test_flags_are_compared_as_numba_does() -> None:
    random, equal = Random(3), 0
    for _ in range(2000):
        left, right = drawn(random), drawn(random)
        are_equal = left.values() == right.values()
        equal += are_equal
        assert _are_equal(left, right) == are_equal
        assert not are_equal or _hash_of(left) == _hash_of(right)
    assert 100 < equal < 1900
    assert not _are_equal(drawn(random), "flags")
