"""`Idempotency-Key`: a creating request that is sent again, because its answer was lost on the way, is answered as the first time."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable
from typing import Any, Final

import orjson
from starlette.responses import Response

from ..analysis import canonical
from ..analysis.moments import now_us
from ..errors import refuse
from ..storage import Attempt, Reply
from ..storage.replies import KEPT_S, Effect
from .accepting import JSON
from .call import Call

HEADER: Final = "idempotency-key"
REPLAYED: Final = "idempotency-replayed"
_KEY: Final = re.compile(r'"([!#-\[\]-~ ]{1,255})"|([!#-\[\]-~]{1,255})')

IDEMPOTENCY_KEY: Final[dict[str, Any]] = {
    "parameters": [
        {
            "name": "Idempotency-Key",
            "in": "header",
            "required": False,
            "schema": {"type": "string", "pattern": f"^(?:{_KEY.pattern})$"},
            "description": (
                f"A name for this request that its caller gives to no other one, best a random UUID. For {KEPT_S // 3600} hours "
                "the same request under it is answered as the first time and has no further effect; another one is refused."
            ),
        }
    ]
}
REPLAYED_HEADER: Final[dict[str, Any]] = {
    "Idempotency-Replayed": {
        "description": "`true` where this is the answer that an earlier request under the same key got.",
        "schema": {"type": "string"},
    }
}


async def once(call: Call, prepare: Callable[[], Awaitable[Effect]]) -> Reply:
    """The answer to a creating request, committed. Where its caller gave a key, what it does is done once.

    `prepare` computes what is needed without the database, and gives what is done with it. Raises: InvalidInput where the key cannot be
    one or came with another request; Unavailable; and what `prepare` and the effect do.
    """
    service, attempt = call.service, attempted(call)
    if attempt is None:
        effect = await prepare()
        return await service.pools.database(lambda: effect(service.database))
    earlier = await service.pools.database(lambda: service.replies.find(attempt))
    if earlier is None:
        effect = await prepare()
        earlier = await service.pools.database(lambda: service.replies.once(attempt, effect))
    if earlier.is_replay:
        service.metrics.replays.inc()
    return earlier


def replied(reply: Reply) -> Response:
    """A reply as it is sent, and whether it was sent before."""
    headers = {**reply.headers, **({REPLAYED: "true"} if reply.is_replay else {})}
    return Response(reply.body, status_code=reply.status, headers=headers, media_type=JSON)


def refuse_repeats(call: Call) -> None:
    """Nothing, unless a caller gives a key to a request whose answer holds a secret: what is kept nowhere cannot be told again.

    Raises: InvalidInput.
    """
    if HEADER in call.headers:
        raise refuse(
            "/header/idempotency-key",
            "invalid-request",
            "The answer holds a secret, which is shown once and kept nowhere, so this cannot be repeated; leave the header out.",
        )


def attempted(call: Call) -> Attempt | None:
    """What a call says of being one of several; None where it gives no key."""
    lines = call.headers.getlist(HEADER)
    if not lines:
        return None
    found = _KEY.fullmatch(lines[0].strip(" \t")) if len(lines) == 1 else None
    if found is None:
        raise refuse("/header/idempotency-key", "out-of-range", "A key is 1 to 255 visible ASCII characters, in quotation marks or not.")
    said = canonical.sorted_text(orjson.loads(call.sent))
    return Attempt(
        caller=call.maker.id,
        key_digest=_digest(found[1] or found[2]),
        request_digest=_digest(f"{call.method} {call.url.path}?{call.url.query}\n{said}"),
        at_us=now_us(),
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
