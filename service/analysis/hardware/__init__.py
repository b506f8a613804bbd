"""Users' own chips and systems: read, judged, kept as revisions, told apart, and seen wherever the shipped ones are."""
