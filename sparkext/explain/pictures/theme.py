"""Colours, for light and dark surroundings, and how drawings use them."""

from __future__ import annotations

PALETTE: tuple[tuple[str, str], ...] = (
    ("#2f6fde", "#6ea8ff"),
    ("#d1495b", "#ff7d8d"),
    ("#1f9d6b", "#4fd1a0"),
    ("#8e5bd0", "#bd93f9"),
    ("#d97a06", "#ffb454"),
    ("#0f8ba3", "#4cc9e0"),
    ("#b8448f", "#f07fc4"),
    ("#7c8a12", "#c3d24a"),
    ("#94623a", "#d3a070"),
    ("#4a55c8", "#98a2ff"),
)
"""Of Q-sets, on light and on dark paper; when there are more, the first is used again."""

PAPER = ("#ffffff", "#12161d")
INK = ("#1b2230", "#e6eaf2")
MUTED = ("#667085", "#97a1b3")
LINE = ("#c9d0da", "#3a4351")
CARD = ("#f6f7f9", "#1b212b")
ALONE = ("#98a2b3", "#707b8d")

SANS = 'ui-sans-serif, system-ui, "Segoe UI", "Helvetica Neue", Arial, "DejaVu Sans", sans-serif'
MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace'

MOST_RULES = 200
"""Most Q-sets that stand out when the pointer is over them, where there is no script."""

_DRAWINGS = """
.sparkext svg, svg.sparkext {font-family: var(--sans); overflow: visible}
.sparkext .paper {fill: var(--paper)}
.sparkext .box {fill: var(--card); stroke: var(--line); stroke-width: 1.2}
.sparkext .ring {fill: none; stroke: var(--line); stroke-width: 1.2}
.sparkext .name {font-size: 13px; font-weight: 600; fill: var(--ink)}
.sparkext .code {font-size: 10.5px; font-family: var(--mono); fill: var(--ink)}
.sparkext .note {font-size: 10.5px; fill: var(--muted)}
.sparkext .strand path {fill: none; stroke: var(--c); stroke-width: 2.5; stroke-linecap: round}
.sparkext .strand.snapshots path {stroke-width: 4}
.sparkext .strand.alone path {stroke-width: 1.5}
.sparkext .strand path.hit {stroke: transparent; stroke-width: 13}
.sparkext .strand polygon {fill: var(--c)}
.sparkext .strand .diamond {stroke: var(--paper); stroke-width: 1.5}
.sparkext .pill {fill: var(--paper); stroke: var(--c); stroke-width: 1.2}
.sparkext .label {font-size: 10.5px; font-weight: 600; fill: var(--c); text-anchor: middle}
.sparkext .strand.alone .label {fill: var(--muted); font-weight: 400}
.sparkext .strand.alone .pill {stroke: none}
.sparkext .start {fill: var(--muted); stroke: none}
.sparkext .stub {stroke: var(--muted); stroke-width: 1.5; fill: none}
.sparkext .strand, .sparkext .state {transition: opacity .15s}
.sparkext .strand:hover path:not(.hit) {stroke-width: 5.5}
"""


def style(sets: int = 0) -> str:
    """A style sheet for everything within an element of class ``sparkext``.

    Args:
        sets: Number of Q-sets; where the pointer is over one of them, the other strands fade.
    """
    light, dark = _colours(0), _colours(1)
    return "\n".join(
        [
            f".sparkext {{{light}; --sans: {SANS}; --mono: {MONO}}}",
            f"@media (prefers-color-scheme: dark) {{.sparkext {{{dark}}}}}",
            f"[data-jp-theme-light=true] .sparkext, .vscode-light .sparkext {{{light}}}",
            f"[data-jp-theme-light=false] .sparkext, .vscode-dark .sparkext {{{dark}}}",
            *(f".sparkext .c{index} {{--c: var(--c{index})}}" for index in range(len(PALETTE))),
            ".sparkext .alone {--c: var(--alone)}",
            _DRAWINGS.strip(),
            *(
                f".sparkext .pass:has(.s{n}:hover) .strand:not(.s{n}), "
                f"svg.sparkext:has(.s{n}:hover) .strand:not(.s{n}) {{opacity: .15}}"
                for n in range(min(sets, MOST_RULES))
            ),
        ]
    )


def _colours(side: int) -> str:
    named = {"paper": PAPER, "ink": INK, "muted": MUTED, "line": LINE, "card": CARD, "alone": ALONE}
    chosen = ("#fff3cf", "#3d3413")
    values = [f"--{name}: {pair[side]}" for name, pair in named.items()]
    values += [f"--c{index}: {pair[side]}" for index, pair in enumerate(PALETTE)]
    return "; ".join([*values, f"--chosen: {chosen[side]}", f"color-scheme: {('light', 'dark')[side]}"])
