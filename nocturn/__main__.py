"""``python -m nocturn``: the command line."""

from nocturn.cli.main import main

main()
