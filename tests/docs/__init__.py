"""The documentation does what it says: its requests are answered as shown, its links lead somewhere, its tables are the code's."""
