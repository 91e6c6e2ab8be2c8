"""Tools, the sets of them that callers have, and the one road that every call takes.

A tool knows nothing of callers, screens or gates; the dispatcher knows nothing of what tools do.
What enters here is how a tool is described and how a call is run.
"""
