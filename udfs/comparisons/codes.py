"""Codes of the instructions that conditions on adjacent events are made of.

The last word says what the operands are: ``whole`` numbers (flags and identities too), ``number`` for
doubles, ``key`` for 128-bit order keys. ``here`` and ``prev`` read a column, ``digits`` the digits of a
decimal.
"""

from __future__ import annotations

CODES = {
    code: number
    for number, code in enumerate(
        (
            "here_whole",
            "here_number",
            "here_key",
            "here_digits",
            "prev_whole",
            "prev_number",
            "prev_key",
            "prev_digits",
            "constant",
            "constant_number",
            "equal_whole",
            "equal_number",
            "equal_key",
            "same_whole",
            "same_number",
            "same_key",
            "less_whole",
            "less_number",
            "less_key",
            "at_most_whole",
            "at_most_number",
            "at_most_key",
            "and_whole",
            "or_whole",
            "not_whole",
            "is_null_whole",
            "is_null_number",
            "is_null_key",
            "add_whole",
            "subtract_whole",
            "multiply_whole",
            "divide_whole",
            "remainder_whole",
            "add_number",
            "subtract_number",
            "multiply_number",
            "divide_number",
            "remainder_number",
            "negate_whole",
            "negate_number",
            "abs_whole",
            "abs_number",
            "choose_whole",
            "choose_number",
            "choose_key",
            "to_number_whole",
            "to_single_number",
        )
    )
}
