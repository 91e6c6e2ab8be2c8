"""The prompt: a session in a terminal, for whoever scripts their memory by hand.

What may enter: how a line is read, completed, coloured and shown, and the commands beside the
language. What a line may do is the session's business, and what a call may do the guard's.

At a terminal a guest's words stand behind a mark that it cannot leave out, and nothing of its own
reaches the terminal but through ``visible``: so it can imitate neither a question nor this room.
"""
