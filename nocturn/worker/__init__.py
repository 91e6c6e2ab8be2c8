"""The locked process that runs QuickJS and nothing else.

Nobody imports this room: the host starts it, in a process of its own, and talks to it over one
socket. It may import the ground's light parts, the wire and ``_quickjs``; no pydantic, no tools, no
files. Whatever is in here is the guest's once the guest breaks QuickJS, so it holds no secret.
"""
