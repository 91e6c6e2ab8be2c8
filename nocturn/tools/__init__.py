"""The tools that come with nocturn: one file for each JavaScript namespace.

A tool says what its arguments look like, what it would do, and how; it never asks whether it may.
"""

BUILT_IN = (
    "memory",
    "memory_append",
    "memory_edit",
    "memory_import",
    "memory_list",
    "memory_move",
    "memory_read",
    "memory_remove",
    "memory_restore",
    "memory_search",
    "memory_stat",
    "memory_undo",
    "memory_write",
    "time_now",
)
"""The names, so that a clash is seen before anything heavy is loaded."""
