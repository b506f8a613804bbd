"""Ask for a roofline. Nothing is stored and no database is touched."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Body
from starlette.responses import Response

from ...analysis import evaluate, ops
from ...engine.kinds import KINDS
from ...schemas.evaluate import Question
from ..answers import answer
from ..call import Call
from ..results import Answer
from .router import router

routes = router("rooflines")

EXAMPLES: Final = {kind: {"summary": kind, "value": ops.question(kind)} for kind in KINDS}
QuestionBody = Annotated[Question, Body(openapi_examples=EXAMPLES)]


@routes.post("/v1/evaluate", scope="evaluate", response_model=Answer)
async def post_evaluate(call: Call, question: QuestionBody) -> Response:
    """What binds an op, or a list of ops, on a chip, by how much, and what would change it."""
    service, rows = call.service, evaluate.rows(question)
    if rows == 1 and service.pools.is_inline(rows):
        text = await service.waiting.answer(question)
    else:
        text = await service.pools.compute(rows, lambda: evaluate.answer(question, service.catalogue).text)
    service.metrics.rows.inc(rows)
    return answer(text)
