"""``python -m sparkext`` is the command ``sparkext``."""

import sys

from sparkext.cli.main import main

sys.exit(main())
