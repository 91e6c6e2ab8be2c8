"""The host's side of a run: it gets a worker, answers it, keeps its clocks, and tells the result.

What comes from a worker is hostile input, whatever the prelude would have sent. Nothing in here
knows a tool or a file of the workspace: calls go down, to the dispatcher it was given.
"""
