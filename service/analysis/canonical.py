"""Canonical text: the one spelling of a document, from which digests and identities are made.

orjson writes floats in their shortest form that reads back the same, so equal documents have equal bytes on every machine.
"""

from __future__ import annotations

import base64
import hashlib

import orjson


def text(document: object) -> bytes:
    """`document` as JSON, members in their given order, NumPy columns as lists."""
    return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)


def sorted_text(document: object) -> str:
    """`document` as JSON with all members sorted, so that equal documents have equal text."""
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS | orjson.OPT_SERIALIZE_NUMPY).decode()


def digest(document: object) -> str:
    """SHA-256 over the sorted text, in hexadecimal.

    >>> digest({"b": 1, "a": 0.5}) == digest({"a": 0.5, "b": 1})
    True
    """
    return digest_of(sorted_text(document).encode())


def digest_of(text: bytes) -> str:
    """SHA-256 over `text`, in hexadecimal."""
    return hashlib.sha256(text).hexdigest()


def identity(*parts: str) -> str:
    """SHA-256 over `parts`, each ended by a zero byte, in base32 without padding, lower case."""
    whole = hashlib.sha256(b"".join(part.encode() + b"\0" for part in parts)).digest()
    return base64.b32encode(whole).decode().rstrip("=").lower()
