"""``python -m sparkext`` is the command ``sparkext``."""

import sys

from sparkext.cli import main

sys.exit(main())
