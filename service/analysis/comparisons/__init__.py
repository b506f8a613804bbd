"""Saved analyses beside each other: what each has against a base, what differs in the question, and why the time does.

Answers are read as they are stored. Only the causes need the engine, which is asked about the stored question with the numbers of the
stored answer; where it finds another time than the one that was kept, that is a cause of its own.
"""
