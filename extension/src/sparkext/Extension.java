package sparkext;

import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.package$;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.SparkSessionExtensionsProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.runtime.BoxedUnit;

/**
 * What {@code spark.sql.extensions} names, and what Spark finds by itself on its class path: sessions whose statements
 * may have MATCH_TREND.
 */
public final class Extension implements SparkSessionExtensionsProvider {
  static final Logger LOG = LoggerFactory.getLogger("sparkext");

  private static final Set<SparkSessionExtensions> extended = Collections.newSetFromMap(new WeakHashMap<>());
  private static final AtomicBoolean isTold = new AtomicBoolean();

  /** Puts a parser before Spark's, once, also where both ways lead here. */
  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    synchronized (extended) {
      if (!extended.add(extensions)) {
        return BoxedUnit.UNIT;
      }
    }
    String problem;
    try {
      problem = problemWith(package$.MODULE$.SPARK_VERSION());
      if (problem == null) {
        extensions.injectParser(LazyParser::of);
      }
    } catch (LinkageError error) {
      problem = "this Spark is not what it was made for (" + error + ")";
    }
    if (problem != null && isTold.compareAndSet(false, true)) {
      LOG.warn("sparkext {} is left out, so that MATCH_TREND is not known: {}", Jar.VERSION, problem);
    }
    return BoxedUnit.UNIT;
  }

  private static String problemWith(String spark) {
    boolean fits = Jar.orderOf(Jar.FIRST_SPARK) <= Jar.orderOf(spark) && Jar.orderOf(spark) < Jar.orderOf(Jar.SPARK_AFTER);
    return fits ? null : "it needs Spark " + Jar.FIRST_SPARK + " or later, before " + Jar.SPARK_AFTER + ", and this is " + spark;
  }
}
