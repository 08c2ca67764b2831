"""How far down each node of a layered drawing is: straight links where there is room for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

SWEEPS = 24


def heights(
    layers: Sequence[Sequence[int]],
    sizes: Sequence[tuple[float, float]],
    links: Mapping[tuple[int, int], float],
    gap: float,
) -> list[float]:
    """Per node how far its middle is below the top of the drawing.

    Each layer in turn is put as near to its neighbours as the order and the sizes allow, which is a
    least-squares problem whose solution is known (`spread`).

    Args:
        layers: Nodes of each layer, from top to bottom.
        sizes: Per node, how far it reaches above its middle and below.
        links: Between neighbouring layers, with how much a straight one is wanted.
        gap: Between the nodes of a layer.
    """
    near: list[list[tuple[int, float]]] = [[] for _ in sizes]
    for (source, target), weight in links.items():
        near[source].append((target, weight))
        near[target].append((source, weight))
    layer_of = {node: number for number, layer in enumerate(layers) for node in layer}
    at = [0.0] * len(sizes)
    for layer in layers:
        offsets = _offsets(layer, sizes, gap)
        for node, offset in zip(layer, offsets, strict=True):
            at[node] = offset - offsets[-1] / 2
    for sweep in range(SWEEPS):
        step = (1, -1, 0)[sweep % 3]
        for number in range(len(layers))[:: step or 1]:
            layer = layers[number]
            wanted, weights = [], []
            for node in layer:
                ends = [(at[o], w) for o, w in near[node] if step == 0 or layer_of[o] == number - step]
                total = sum(weight for _, weight in ends)
                wanted.append(sum(end * weight for end, weight in ends) / total if ends else at[node])
                weights.append(total or 0.01)
            for node, height in zip(layer, spread(wanted, weights, _offsets(layer, sizes, gap)), strict=True):
                at[node] = height
    top = min((at[node] - above for node, (above, _) in enumerate(sizes)), default=0.0)
    return [height - top for height in at]


def spread(wanted: Sequence[float], weights: Sequence[float], offsets: Sequence[float]) -> list[float]:
    """Heights with the least weighted squares of distances from those wanted, none nearer than the offsets say.

    Less the offsets, heights must not decrease, so this is isotonic regression; neighbours in the wrong order
    are put at their common mean.
    """
    blocks: list[list[float]] = []  # mean, weight, number of members
    for height, weight, offset in zip(wanted, weights, offsets, strict=True):
        block = [height - offset, weight, 1.0]
        while blocks and blocks[-1][0] >= block[0]:
            mean, before, members = blocks.pop()
            total = before + block[1]
            block = [(mean * before + block[0] * block[1]) / total, total, members + block[2]]
        blocks.append(block)
    level = [mean for mean, _, members in blocks for _ in range(int(members))]
    return [base + offset for base, offset in zip(level, offsets, strict=True)]


def _offsets(layer: Sequence[int], sizes: Sequence[tuple[float, float]], gap: float) -> list[float]:
    """How far each node must be below the first at least."""
    steps = [sizes[upper][1] + gap + sizes[lower][0] for upper, lower in pairwise(layer)]
    return list(accumulate(steps, initial=0.0)) if layer else []
