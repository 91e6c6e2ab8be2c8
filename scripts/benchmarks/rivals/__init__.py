"""What ``peers.py`` compares: who they are, how they are installed, and how each is driven.

``guests.py`` and ``guests.cjs`` run in the peers' own environments and import nothing of this.
"""
