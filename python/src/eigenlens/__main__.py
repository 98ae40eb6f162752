"""`python -m eigenlens`: the program."""

import sys

from eigenlens_command import main

sys.exit(main())
