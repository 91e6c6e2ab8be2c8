"""Agents: a persona that lives in files, the model that speaks for it, and what it may do.

What may enter: the loop between a model and tools, and what the model is told. What a call may do
is the guard's business, and what becomes of it the store's.
"""
