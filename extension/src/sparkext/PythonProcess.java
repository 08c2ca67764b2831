package sparkext;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.SecureRandom;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import py4j.ClientServer;
import scala.Function2;

/**
 * The Python process that reads the statements of an application's sessions: started when the first of them asks for it,
 * a child of this JVM with which it ends.
 *
 * <p>Public methods are for that process, which this is the entry point for.
 */
public final class PythonProcess {
  /** For {@code -c}, which, as {@code -m}, puts the folder where the user is before all others. */
  private static final String PROGRAM =
      "import sys; sys.path[:] = filter(None, sys.path); from sparkext.cli.joined import main; sys.exit(main(sys.argv[1:]))";

  private static final int SECONDS = 120;
  private static final int SECONDS_BEFORE_NEXT_TRY = 60;

  private static PythonProcess last;
  private static int count;

  private final SparkContext context;
  private final SparkSession session;
  private final String executable;
  private final int number;
  private final CountDownLatch hasJoined = new CountDownLatch(1);
  private final long started = System.nanoTime();
  private volatile Function2<SparkSession, ParserInterface, ParserInterface> parsers;
  private volatile String lastLine = "";
  private volatile String problem;
  private final Set<SparkSession> closed = sessions();
  private final Set<SparkSession> ofConnect = sessions();
  private ClientServer server;
  private Process process;
  private Thread output;

  private PythonProcess(SparkSession session, int number) {
    this.session = session;
    this.context = session.sparkContext();
    this.number = number;
    this.executable = executable(context.conf());
  }

  /** The process for an application, which is started unless it runs. */
  static synchronized PythonProcess of(SparkSession session) throws PythonProblem {
    SparkContext context = session.sparkContext();
    if (last != null && last.context == context) {
      if (last.isAlive() && last.parsers != null) {
        return last;
      }
      boolean isRecent = System.nanoTime() - last.started < TimeUnit.SECONDS.toNanos(SECONDS_BEFORE_NEXT_TRY);
      if (last.parsers == null && isRecent) {
        throw last.problem();
      }
    }
    if (last != null) {
      last.end();
    }
    last = new PythonProcess(session, ++count);
    try {
      last.start();
    } catch (IOException error) {
      last.problem = error.getMessage();
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
      last.problem = "it was interrupted";
    }
    if (last.parsers == null) {
      last.end();
      PythonProblem told = last.problem();
      Extension.LOG.warn(told.getMessage());
      throw told;
    }
    return last;
  }

  boolean isAlive() {
    return process != null && process.isAlive();
  }

  /** Why it does not read statements: it did not start, or has ended. */
  PythonProblem problem() {
    if (parsers != null) {
      return new PythonProblem(
          "MATCH_TREND is not known to this session any more, since " + ended() + "; a new session starts another");
    }
    return new PythonProblem(
        "MATCH_TREND needs Python with sparkext " + Jar.VERSION + ", and " + executable + " does not give it: " + problem
            + "; spark.sparkext.python can name another, and spark.sparkext.enabled=false leaves sparkext out");
  }

  ParserInterface parserOf(SparkSession session, ParserInterface delegate, boolean isOfConnect) {
    if (isOfConnect) {
      ofConnect.add(session);
    }
    return parsers.apply(session, delegate);
  }

  void noteClosed(SparkSession session) {
    closed.add(session);
  }

  private String ended() {
    String status = process.isAlive() ? "" : " with status " + process.exitValue();
    return "its Python process, " + executable + ", has ended" + status;
  }

  private void start() throws IOException, InterruptedException {
    String secret = secret();
    InetAddress here = InetAddress.getLoopbackAddress();
    server =
        new ClientServer.ClientServerBuilder(this)
            .javaPort(0)
            .javaAddress(here)
            .pythonPort(0)
            .pythonAddress(here)
            .authToken(secret)
            .autoStartJavaServer(false)
            .build();
    // Threads are of the kind of the one that makes them: these must not keep the JVM from ending.
    Thread serving = new Thread(() -> server.startServer(false), "sparkext-gateway");
    serving.setDaemon(true);
    serving.start();
    int port = portOf(server);
    ProcessBuilder builder = new ProcessBuilder(executable, "-c", PROGRAM, Jar.VERSION);
    setEnvironment(builder.environment(), port, secret);
    process = builder.redirectErrorStream(true).start();
    output = new Thread(this::passOutputOn, "sparkext-python");
    output.setDaemon(true);
    output.start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
    long until = started + TimeUnit.SECONDS.toNanos(SECONDS);
    while (!hasJoined.await(20, TimeUnit.MILLISECONDS)) {
      if (!process.isAlive()) {
        output.join(1000);
        problem = lastLine.isEmpty() ? "it has ended with status " + process.exitValue() : lastLine;
        return;
      }
      if (System.nanoTime() > until) {
        problem = "it has not answered within " + SECONDS + " seconds";
        return;
      }
    }
  }

  private void end() {
    if (process != null) {
      process.destroy();
    }
    if (server != null) {
      server.shutdown();
    }
  }

  private static int portOf(ClientServer server) throws InterruptedException {
    int port = server.getJavaServer().getListeningPort();
    while (port <= 0) {
      Thread.sleep(1);
      port = server.getJavaServer().getListeningPort();
    }
    return port;
  }

  private static Set<SparkSession> sessions() {
    return Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
  }

  private static String secret() {
    byte[] bytes = new byte[32];
    new SecureRandom().nextBytes(bytes);
    StringBuilder text = new StringBuilder();
    for (byte one : bytes) {
      text.append(String.format("%02x", one));
    }
    return text.toString();
  }

  private void setEnvironment(Map<String, String> variables, int port, String secret) {
    variables.put("PYSPARK_GATEWAY_PORT", Integer.toString(port));
    variables.put("PYSPARK_GATEWAY_SECRET", secret);
    variables.put("PYSPARK_PIN_THREAD", "true");
    variables.put("PYTHONUNBUFFERED", "1");
    String given = variables.get("PYTHONPATH");
    String ofSpark = PythonUtils.sparkPythonPath();
    variables.put("PYTHONPATH", given == null || given.isEmpty() ? ofSpark : ofSpark + java.io.File.pathSeparator + given);
    if (context.conf().contains("spark.pyspark.python")) {
      variables.put("PYSPARK_PYTHON", context.conf().get("spark.pyspark.python"));
    }
    variables.remove("SPARK_REMOTE");
    variables.remove("SPARK_LOCAL_REMOTE");
    variables.remove("SPARK_CONNECT_MODE_ENABLED");
  }

  /** What it writes goes to the standard error, once it reads statements; until then the last line says what is wrong. */
  private void passOutputOn() {
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (parsers != null) {
          System.err.println(line);
        } else if (!line.trim().isEmpty()) {
          lastLine = line.trim();
        }
      }
    } catch (IOException error) {
      Extension.LOG.debug("the output of Python is closed", error);
    }
  }

  /** The Python that the user has named, else that of the environment that the jar is in. */
  private static String executable(SparkConf conf) {
    for (String name : new String[] {"spark.sparkext.python", "spark.pyspark.driver.python", "spark.pyspark.python"}) {
      if (conf.contains(name)) {
        return conf.get(name);
      }
    }
    for (String name : new String[] {"PYSPARK_DRIVER_PYTHON", "PYSPARK_PYTHON"}) {
      String value = System.getenv(name);
      if (value != null && Paths.get(value).getFileName().toString().startsWith("python")) {
        return value; // and no jupyter or ipython
      }
    }
    return ofEnvironment(Jar.place());
  }

  /** The Python of the environment that has a file in its site-packages. */
  private static String ofEnvironment(Path file) {
    for (Path at = file; at != null; at = at.getParent()) {
      Path library = at.getParent();
      boolean isLibrary = at.getFileName() != null && at.getFileName().toString().startsWith("python3.");
      if (isLibrary && library != null && library.getParent() != null) {
        Path python = library.getParent().resolve("bin").resolve(at.getFileName());
        if (Files.isExecutable(python)) {
          return python.toString();
        }
      }
    }
    return "python3";
  }

  /** For the process: the application that it is to serve. */
  public JavaSparkContext context() {
    return JavaSparkContext.fromSparkContext(context);
  }

  /** For the process: the session that has asked for it first. */
  public SparkSession session() {
    return session;
  }

  /** For the process: how many were started for this JVM, of which views may be left. */
  public int number() {
    return number;
  }

  /** For the process: whether a session is one of Spark Connect's server, which knows whether it is open. */
  public boolean isOfConnect(SparkSession asked) {
    return ofConnect.contains(asked);
  }

  /** For the process: whether the Thrift server has closed a session. */
  public boolean isClosed(SparkSession asked) {
    return closed.contains(asked);
  }

  /** For the process: it is ready, and makes parsers. */
  public void join(Function2<SparkSession, ParserInterface, ParserInterface> makers) {
    parsers = makers;
    hasJoined.countDown();
  }
}
