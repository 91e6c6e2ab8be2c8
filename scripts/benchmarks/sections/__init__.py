"""The parts of the jail's table, a file each: it takes a folder and rounds, and yields figures."""
