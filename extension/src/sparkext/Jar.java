package sparkext;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Properties;

/** What the jar says of itself. */
final class Jar {
  private static final Properties SAID = new Properties();

  static {
    try (InputStream said = Jar.class.getResourceAsStream("jar.properties")) {
      SAID.load(said);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  /** Of sparkext. */
  static final String VERSION = SAID.getProperty("version");

  static final String FIRST_SPARK = SAID.getProperty("spark.first");
  static final String SPARK_AFTER = SAID.getProperty("spark.after");

  private Jar() {}

  /** A number by which versions such as 4.1.0 are in order. */
  static int orderOf(String version) {
    String[] parts = version.split("[^0-9]+");
    return 1000 * Integer.parseInt(parts[0]) + Integer.parseInt(parts[1]);
  }

  /** Where the jar is; null if that is no file. */
  static Path place() {
    try {
      return Paths.get(Jar.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException | RuntimeException error) {
      return null;
    }
  }
}
