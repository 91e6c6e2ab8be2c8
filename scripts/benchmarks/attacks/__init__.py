"""What is done to the leak scanner: values dressed up, questions put to it, and texts that cost.

Written from what an attacker would try, by people who do not look at how detection works, and
never tuned to it: a class that slips through stays in, and is reported.
"""
