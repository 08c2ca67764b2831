"""What a session remembers of what it was asked lately."""

from __future__ import annotations

from sparkext.binding.recent import Recent


def test_the_one_not_asked_for_longest_goes() -> None:
    recent: Recent[str, int] = Recent(2)
    recent["one"], recent["two"] = 1, 2
    assert recent.get("one") == 1
    recent["three"] = 3
    assert [recent.get(key) for key in ("one", "two", "three")] == [1, None, 3]
    recent["one"] = 4  # which is there, so nothing goes
    assert (len(recent), recent.get("one"), recent.get("three")) == (2, 4, 3)


def test_forgotten() -> None:
    recent: Recent[str, int] = Recent(2)
    recent["one"] = 1
    assert (recent.pop("one"), recent.pop("one"), len(recent)) == (1, None, 0)
