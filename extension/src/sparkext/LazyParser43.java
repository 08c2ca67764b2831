package sparkext;

import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.parser.SqlStatementSplitResult;
import org.apache.spark.sql.catalyst.parser.TemporalIdentifier;

/** From Spark 4.3 on, the parser divides what is typed at a prompt, and reads names with a version or a time. */
final class LazyParser43 extends LazyParser41 {
  LazyParser43(SparkSession session, ParserInterface delegate) {
    super(session, delegate);
  }

  @Override
  public SqlStatementSplitResult splitStatements(String text) {
    return readPart(parser -> parser.splitStatements(text));
  }

  @Override
  public TemporalIdentifier parseTemporalTableIdentifier(String text) {
    return readPart(parser -> parser.parseTemporalTableIdentifier(text));
  }
}
