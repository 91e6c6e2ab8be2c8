"""What the benchmarks measure with: the least that a job could cost, and what the kernel says.

Ratios are taken against what stands here, so only what does the bare job may enter: a process that
echoes, an engine without a jail, a file that is written and no more. Nothing here uses nocturn.
"""
