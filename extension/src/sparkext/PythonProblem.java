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

  /** The error that the user gets. */
  AnalysisException told() {
    return told(getMessage(), Option.empty());
  }

  /** The error that the user gets for a statement that is for Python: this one, and what Spark says of it. */
  AnalysisException told(Exception ofSpark) {
    return told(getMessage() + "\nSpark itself says: " + ofSpark.getMessage(), Option.apply(ofSpark));
  }

  private static AnalysisException told(String message, Option<Throwable> cause) {
    return new AnalysisException(
        message,
        Option.empty(),
        Option.empty(),
        cause,
        Option.empty(),
        scala.collection.immutable.Map$.MODULE$.empty(),
        new QueryContext[0]);
  }
}
