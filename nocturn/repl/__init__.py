"""The prompt: a session in a terminal, for whoever scripts their memory by hand.

What may enter: how a line is read, coloured, completed and shown. What a line may do is the
session's business, and what a call may do the guard's.
"""
