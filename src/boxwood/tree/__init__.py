"""The trees themselves: their records, and what is done to a whole tree."""
