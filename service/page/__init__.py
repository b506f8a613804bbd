"""What people look at: numbers with four digits and a prefix, charts as pictures."""
