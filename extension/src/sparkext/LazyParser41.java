package sparkext;

import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.parser.ParameterContext;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** From Spark 4.1 on, statements come with parameters. */
class LazyParser41 extends LazyParser {
  LazyParser41(SparkSession session, ParserInterface delegate) {
    super(session, delegate);
  }

  @Override
  public LogicalPlan parsePlanWithParameters(String text, ParameterContext parameters) {
    return read(text, parser -> parser.parsePlanWithParameters(text, parameters));
  }
}
