"""Documents as tables: what a list, a comparison, a chart or a single resource says, for a spreadsheet.

Columns bear the names that members have in the document, units stand in the header, and beside the table stands where its numbers
come from.
"""
