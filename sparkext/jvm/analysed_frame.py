"""A data frame that says what Spark has made of it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

from sparkext.jvm.gateway import items
from sparkext.jvm.plans import Plan, contains, plan_text


class AnalysedFrame(ClassicDataFrame):
    """A data frame of sparkext's own, and what Spark says of its plan. The JVM is asked for each thing once."""

    @classmethod
    def of(cls, frame: DataFrame) -> AnalysedFrame:
        """The same rows, of a frame that PySpark has made."""
        return frame if isinstance(frame, cls) else cls(frame._jdf, frame.sparkSession)

    @cached_property
    def analysed_plan(self) -> Plan:
        """What the frame is, as Spark's analyzer has made it."""
        return self._jdf.logicalPlan()

    @cached_property
    def shown_plan(self) -> str:
        """How Spark shows what the frame is."""
        return plan_text(self.analysed_plan)

    @property
    def optimized_plan(self) -> Plan:
        """What the frame is, as Spark's optimizer has made it."""
        return self._jdf.queryExecution().optimizedPlan()

    @cached_property
    def is_stream(self) -> bool:
        """Whether it reads a stream."""
        return self.isStreaming

    @cached_property
    def size_in_bytes(self) -> int:
        """Size of its rows as Spark knows it; when it does not, 2^63, or the share of that which the columns have."""
        return int(str(self.optimized_plan.stats().sizeInBytes()))

    @cached_property
    def multiplies(self) -> bool:
        """Whether some operator makes any number of rows of one, as ``explode`` does."""
        return contains(self.optimized_plan, "GENERATE")

    @cached_property
    def column_texts(self) -> str:
        """How Spark shows what the columns are computed by."""
        return str(self.analysed_plan.expressions().mkString())

    @cached_property
    def numbered_columns(self) -> str:
        """The columns, each with the number that Spark has given it, and gives no other."""
        return str(self.analysed_plan.output().mkString(","))

    def qualified_names(self) -> list[str]:
        """Names of the columns with those of their relations, which tell columns of one name apart."""
        return [str(column.qualifiedName()) for column in items(self.analysed_plan.output())]

    def is_that_again(self, earlier: AnalysedFrame) -> bool:
        """Whether it is one that has been analysed before, of the very relation: Spark has numbered it but once.

        A relation that Spark has looked up anew, after its table or its files have changed, has other numbers.
        """
        return self.numbered_columns == earlier.numbered_columns and bool(self.sameSemantics(earlier))

    def operators(self) -> Iterator[str]:
        """Names of the operators that make it, as Spark has optimized it: ``Filter``, ``Join``, and so on."""
        todo = [self.optimized_plan]
        while todo:
            plan = todo.pop()
            yield str(plan.nodeName()).split(" ")[0]
            todo += items(plan.children())

    def has_no_source(self) -> bool:
        """Whether Spark finds out that nothing is read for it while it optimizes it; kept rows are not looked at."""
        optimizer = self.sparkSession._jsparkSession.sessionState().optimizer()
        todo = [optimizer.execute(self.analysed_plan)]
        while todo:
            plan = todo.pop()
            below = items(plan.children())
            rows = plan.maxRows()
            if not below and not (rows.isDefined() and rows.get() == 0):
                return False
            todo += below
        return True
