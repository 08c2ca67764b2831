package sparkext;

import org.apache.spark.QueryContext;
import org.apache.spark.sql.AnalysisException;
import scala.Option;

/** Why Python reads no statements; the message is a sentence for users. */
final class PythonProblem extends Exception {
  private static final long serialVersionUID = 1;

  PythonProblem(String message) {
    super(message);
  }

  /** The error that the user gets for a statement that is for Python: this one, and what Spark says of it. */
  AnalysisException told(Exception ofSpark) {
    String message = getMessage() + "\nSpark itself says: " + ofSpark.getMessage();
    return new AnalysisException(
        message,
        Option.empty(),
        Option.empty(),
        Option.apply((Throwable) ofSpark),
        Option.empty(),
        scala.collection.immutable.Map$.MODULE$.empty(),
        new QueryContext[0]);
  }
}
