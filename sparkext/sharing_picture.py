"""The sharing plan of a session as a value that notebooks show as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame

from sparkext.explain.comparison import table_text
from sparkext.explain.pictures.document import read
from sparkext.explain.pictures.legend import Legend
from sparkext.explain.pictures.page import fragment, page
from sparkext.explain.pictures.template_drawing import template_svg
from sparkext.explain.report import Pass
from sparkext.jvm.frames import java_frame
from sparkext.sql.quoting import identifier


@dataclass(frozen=True, slots=True)
class SharingPicture:
    """What ``EXPLAIN SHARING`` says.

    Notebooks show it as a picture, which is SVG and HTML without scripts; elsewhere it is its text.

    Attributes:
        text: As ``EXPLAIN SHARING`` returns it; of a comparison, its rows as a table.
        json: As ``EXPLAIN SHARING JSON`` does.
    """

    text: str
    json: str

    @property
    def html(self) -> str:
        """A page that stands by itself: what is clicked stands out, and it needs no network."""
        return page(self._passes())

    @property
    def svg(self) -> dict[str, str]:
        """The picture of each template, by the name of its pool."""
        return {one.name: template_svg(one, one.plan, Legend(one.plan)) for one in self._passes() if one.plan}

    def save(self, file: str | Path) -> None:
        """Write `html` to a file."""
        Path(file).write_text(self.html, encoding="utf-8")

    def _passes(self) -> Sequence[Pass]:
        return read(self.json)

    def _repr_html_(self) -> str:
        return fragment(self._passes())

    def __repr__(self) -> str:
        return self.text


def explain(spark: SparkSession, only: str | None = None, compare: bool = False) -> SharingPicture:
    """What an enabled session shares.

    Args:
        spark: The session.
        only: A view or query, when only the part that concerns it is wanted.
        compare: Whether to say what each optimizer makes of the queries.

    Raises:
        ParseException: ``TREND_UNKNOWN_QUERY`` when ``only`` is none; a setting has an unknown value.
    """
    what = "EXPLAIN SHARING COMPARE" if compare else "EXPLAIN SHARING"
    about = "" if only is None else f" FOR {identifier(only)}"
    shown, document = (SparkSession.sql(spark, f"{what}{form}{about}") for form in ("", " JSON"))
    rows = shown.collect()
    text = table_text(shown.columns, rows) if compare else rows[0].plan
    return SharingPicture(text, document.collect()[0].plan)


class PlanFrame(ClassicFrame):
    """The result of ``EXPLAIN SHARING``: a data frame like any other, which notebooks show as a picture."""

    def __init__(self, frame: DataFrame, only: str | None) -> None:
        super().__init__(java_frame(frame), frame.sparkSession)
        self._only = only

    def _repr_html_(self) -> str:
        """The plan as it is now, which is said if it is another than the statement has found."""
        explained = explain(self.sparkSession, self._only)
        row = self.head()
        is_same = row is not None and row.plan == explained.text
        said = "" if is_same else "<p>This is the plan as it is now; it was another when the statement ran.</p>"
        return said + explained._repr_html_()
