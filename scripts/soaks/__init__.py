"""What the soak of the notes is made of: changes, the processes that make them, and two trials."""
