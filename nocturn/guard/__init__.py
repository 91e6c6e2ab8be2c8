"""The guard: what stands between a call and its effect.

The screen looks for secrets before anything else may see a call; the gate rules on its effects:
policy, then grants, then a person. Only the gate makes a clearance, and nothing writes without one.

What the guard needs from outside is a ``Protocol`` in ``ports``: the store satisfies them and the
workspace wires them. No file, no path and no tool is known in here.
"""
