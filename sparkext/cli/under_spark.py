"""What ``spark-submit`` runs for ``sparkext spark-sql`` and the servers; not to be imported."""

import sys
from pathlib import Path

if __name__ == "__main__":
    # Python puts the script's directory in front, where its modules would hide others of the same names.
    sys.path[:] = [place for place in sys.path if place != str(Path(__file__).parent)]
    sys.path.append(str(Path(__file__).parents[2]))

    from sparkext.cli.under_jvm import main

    sys.exit(main(sys.argv[1:]))
