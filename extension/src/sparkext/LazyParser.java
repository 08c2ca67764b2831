package sparkext;

import java.lang.reflect.Proxy;
import java.util.regex.Pattern;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.SparkSqlParser;
import org.apache.spark.sql.internal.VariableSubstitution;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * The parser of a session: the one that was there before, until a statement has MATCH_TREND; from then on, Python reads
 * the session's statements.
 *
 * <p>It extends Spark's own, so that it has all methods that a version of Spark asks a parser for. Those that only later
 * versions have are in its subclasses, which earlier versions do not load.
 */
class LazyParser extends SparkSqlParser {
  private static final String GAP = "(?:\\s|/\\*.*?\\*/|--[^\\n]*\\n)+";

  /** What a text has that is for Python; a permanent view is stored after the last of them. */
  private static final Pattern CONCERNS_PYTHON =
      Pattern.compile(
          "\\bMATCH_TRENDS?\\b|\\b(?:EXPLAIN|REFRESH)" + GAP + "SHARING\\b|\\bSHOW" + GAP + "TREND\\b"
              + "|\\bspark\\.sparkext\\.(?!enabled\\b)|`sparkext, which this view needs",
          Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

  private static final String CALL = "sparkext_trend(";
  private static final String ENABLED = "spark.sparkext.enabled";

  private final SparkSession session;
  private final ParserInterface delegate;
  private volatile PythonProcess process;
  private volatile ParserInterface python;

  LazyParser(SparkSession session, ParserInterface delegate) {
    this.session = session;
    this.delegate = delegate;
  }

  /** The parser for a session that has {@code delegate}, with the methods of this version of Spark. */
  static ParserInterface of(SparkSession session, ParserInterface delegate) {
    if (exists("org.apache.spark.sql.catalyst.parser.SqlStatementSplitResult")) {
      return new LazyParser43(session, delegate);
    }
    if (exists("org.apache.spark.sql.catalyst.parser.ParameterContext")) {
      return new LazyParser41(session, delegate);
    }
    return new LazyParser(session, delegate);
  }

  private static boolean exists(String name) {
    try {
      Class.forName(name, false, ParserInterface.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException error) {
      return false;
    }
  }

  /** What a parser is asked. */
  interface Question<T> {
    T ask(ParserInterface parser) throws Exception;
  }

  /** The answer to a question about a text that may be for Python. */
  final <T> T read(String text, Question<T> question) {
    boolean concerns = concernsPython(text);
    if (!concerns && python == null || !isOn() || isReadByProgram()) {
      return ask(question, delegate);
    }
    if (process != null && !process.isAlive()) {
      if (text.contains(CALL)) { // of a view, whose rows the process would have given
        throw LazyParser.<RuntimeException>unchecked(process.problem().told());
      }
      return withoutPython(concerns, process.problem(), question);
    }
    try {
      joinPython();
    } catch (PythonProblem problem) {
      return withoutPython(concerns, problem, question);
    }
    try {
      return ask(question, python);
    } catch (py4j.Py4JException error) {
      if (process.isAlive()) {
        throw error;
      }
      return withoutPython(concerns, process.problem(), question);
    }
  }

  /** The answer to a question about a text that is no statement. */
  final <T> T readPart(Question<T> question) {
    ParserInterface reader = python;
    if (reader != null && isClosing()) {
      process.noteClosed(session);
    }
    boolean goes = reader != null && process.isAlive() && isOn() && !isReadByProgram();
    return ask(question, goes ? reader : delegate);
  }

  private boolean concernsPython(String text) {
    if (text == null) {
      return false;
    }
    if (CONCERNS_PYTHON.matcher(text).find()) {
      return true;
    }
    return text.contains("${") && CONCERNS_PYTHON.matcher(new VariableSubstitution().substitute(text)).find();
  }

  private boolean isOn() {
    return !"false".equalsIgnoreCase(session.conf().get(ENABLED, "true").trim());
  }

  /** Whether the program has enabled the session itself: then a parser of its Python's stands before all others. */
  private boolean isReadByProgram() {
    return Proxy.isProxyClass(
        ((org.apache.spark.sql.classic.SparkSession) session).sessionState().sqlParser().getClass());
  }

  /** Whether the Thrift server closes the session, which takes its views out of Spark's cache one by one. */
  private static boolean isClosing() {
    for (StackTraceElement frame : Thread.currentThread().getStackTrace()) {
      if (frame.getMethodName().equals("closeSession")) {
        return true;
      }
    }
    return false;
  }

  /** Whether a client of Spark Connect's has made the statement that is read. */
  private static boolean isOfConnect() {
    for (StackTraceElement frame : Thread.currentThread().getStackTrace()) {
      if (frame.getClassName().startsWith("org.apache.spark.sql.connect.")) {
        return true;
      }
    }
    return false;
  }

  private void joinPython() throws PythonProblem {
    if (python != null) {
      return;
    }
    PythonProcess running = PythonProcess.of(session);
    synchronized (this) {
      if (python == null) {
        process = running;
        python = running.parserOf(session, delegate, isOfConnect());
      }
    }
  }

  /** What Spark makes of a text that Python does not read; where that is nothing, the error says why Python does not. */
  private <T> T withoutPython(boolean concerns, PythonProblem problem, Question<T> question) {
    try {
      return ask(question, delegate);
    } catch (Exception error) {
      if (!concerns) {
        throw error;
      }
      throw LazyParser.<RuntimeException>unchecked(problem.told(error));
    }
  }

  private static <T> T ask(Question<T> question, ParserInterface parser) {
    try {
      return question.ask(parser);
    } catch (Exception error) {
      throw LazyParser.<RuntimeException>unchecked(error);
    }
  }

  /** The very exception, which Scala's methods may throw without saying so. */
  @SuppressWarnings("unchecked")
  private static <E extends Exception> E unchecked(Exception error) throws E {
    throw (E) error;
  }

  @Override
  public LogicalPlan parsePlan(String text) {
    return read(text, parser -> parser.parsePlan(text));
  }

  @Override
  public LogicalPlan parseQuery(String text) {
    return read(text, parser -> parser.parseQuery(text));
  }

  @Override
  public Expression parseExpression(String text) {
    return readPart(parser -> parser.parseExpression(text));
  }

  @Override
  public TableIdentifier parseTableIdentifier(String text) {
    return readPart(parser -> parser.parseTableIdentifier(text));
  }

  @Override
  public FunctionIdentifier parseFunctionIdentifier(String text) {
    return readPart(parser -> parser.parseFunctionIdentifier(text));
  }

  @Override
  public scala.collection.immutable.Seq<String> parseMultipartIdentifier(String text) {
    return readPart(parser -> parser.parseMultipartIdentifier(text));
  }

  @Override
  public StructType parseRoutineParam(String text) {
    return readPart(parser -> parser.parseRoutineParam(text));
  }

  @Override
  public StructType parseTableSchema(String text) {
    return readPart(parser -> parser.parseTableSchema(text));
  }

  @Override
  public DataType parseDataType(String text) {
    return readPart(parser -> parser.parseDataType(text));
  }
}
