"""Tables as spreadsheets and data frames write them: bytes become columns of cells, and columns bytes.

Every format has a module with a reader and a writer; `formats.py` lists them. A reader takes what a stranger sent: it refuses what
is too large or hostile before that costs anything, and it never guesses.
"""
