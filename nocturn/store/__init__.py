"""The store: everything that nocturn keeps on disk, and the only room that touches it.

Why it is a room of its own: a path is dangerous until a folder has been walked for it, a write is
dangerous until the whole of it is on disk, and a change needs a proof that somebody allowed it.
Here all three are made sure of once, so no tool has to remember them.

What may enter: a path in canonical form, whole bytes or text, and a ``Clearance`` for whatever
changes a note. No policy, no person, no scanner: what needs a ruling is ruled on before. It knows
the ground (errors, limits, names, effects) and nothing of the guard; the workspace wires the two.
"""
