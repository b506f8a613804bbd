"""The documents that come in and go out: what a request may say, and how a refusal of it reads."""
