"""The wire between a worker and the host: length-prefixed frames of JSON text.

Both ends use this room, so it stays light: no dataclasses, no pydantic. What it reads may come from
an attacker; it caps, then parses, then catches.
"""
