"""Schemathesis reads the OpenAPI document and asks what it allows and what it forbids. No answer may be a 5xx, undocumented or of another
shape than the document says, and nothing that the document forbids may be accepted.

What the document cannot say is refused with a 400 or a 422 although it is allowed: chips that do not exist, formats that a chip has no
peak for, control characters. A tag in a header may end in a 304 or a 412, none where one of two
is needed in a 428. So that not every question ends there, most get chips that exist, and neither too many nor too few parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, Config, GenerationMode
from schemathesis.config import ChecksConfig, PositiveDataAcceptanceConfig, ProjectConfig, ProjectsConfig
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation, BaseSchema

from service.api.contract import Contract
from service.api.routes.all import all_routes

AnyCase = Case[Any]
REFUSED_FOR_WHAT_THEY_MEAN = PositiveDataAcceptanceConfig(expected_statuses=["2xx", "304", "400", "404", "412", "413", "422", "428"])
BOUNDED = settings(
    max_examples=12,
    phases=[Phase.generate],
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
CHIPS = ("nvidia-h100-sxm", "google-tpu-v5e", "amd-epyc-9654@1")
MATMUL: dict[str, Any] = {"kind": "matmul", "m": 64, "k": 8192, "n": 8192, "dtype": "bf16"}
OPERATIONS = {
    f"{method.upper()} {path}": described
    for path, methods in Contract(all_routes()).document["paths"].items()
    for method, described in methods.items()
}
FORBIDDING = [
    name
    for name, described in OPERATIONS.items()
    if "requestBody" in described or any(each["in"] == "query" for each in described.get("parameters", ()))
]
"""Those that something can be wrong with, any text being allowed as a name in a path."""


@pytest.fixture(scope="module")
def contract() -> BaseSchema:
    checks = ChecksConfig(positive_data_acceptance=REFUSED_FOR_WHAT_THEY_MEAN)
    config = Config(seed=1, projects=ProjectsConfig(default=ProjectConfig(checks=checks)))
    return schemathesis.openapi.from_dict(Contract(all_routes()).document, config=config)


def operation(contract: BaseSchema, name: str) -> APIOperation[Any, Any, Any, Any]:
    found = (each.ok() for each in contract.get_all_operations() if isinstance(each, Ok))
    return next(each for each in found if each.label == name)


def meant(body: Any, nth: int) -> Any:
    """`body` with chips that exist, one question where it could have none or two, one candidate, and two cases with targets.

    Of every second candidate and case the place, or the op, stays what was made up. Of a question every fourth is one that is surely
    answered, with what was made up beside it.
    """
    if isinstance(body, list):
        return [meant(each, nth) for each in body]
    if not isinstance(body, dict):
        return body
    known = {name: meant(each, nth) for name, each in body.items()}
    for name in {"chip", "base"} & known.keys():
        if isinstance(known[name], str):
            known[name] = CHIPS[len(known[name]) % len(CHIPS)]
    if "target" in known and known.get("ops"):
        known.pop("op", None)
    elif "target" in known:
        known["op"] = known.get("op") or MATMUL
    if "target" in known and nth % 4 == 2:
        beside = {name: each for name, each in known.items() if name not in {"ops", "sharding", "options", "measured_s"}}
        known = {**beside, "op": MATMUL, "target": {"chip": CHIPS[0]}}
    if known.get("candidates"):
        known.pop("ops", None)
        place = {name: each for name, each in known["candidates"][0].items() if name != "op"}
        return {**known, "op": MATMUL, "candidates": [place if nth % 2 else {"id": place["id"], "target": {"chip": CHIPS[0]}}]}
    if known.get("cases"):
        case = {**known["cases"][0], "target": {"chip": CHIPS[0]}}
        return {"cases": [case if nth % 2 else {"op": MATMUL, "target": case["target"]}] * 2}
    return known


def numbered(kept: str) -> Callable[[AnyCase], AnyCase]:
    """`asked` with the number of each case among the different ones; a case that is sent again keeps its number."""
    numbers: dict[str, int] = {}

    def ask(case: AnyCase) -> AnyCase:
        return asked(case, numbers.setdefault(str((case.path_parameters, case.query, case.headers, case.body)), len(numbers)), kept)

    return ask


def asked(case: AnyCase, nth: int, kept: str = "") -> AnyCase:
    """What to send for the `nth` case: one of four as it was made up, the others with names that exist; `kept` is an analysis."""
    is_allowed = case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE
    if is_allowed and case.path == "/v1/comparisons" and nth % 4:
        if isinstance(case.body, dict):
            case.body = {"base": kept, "others": [kept]}
        else:
            case.query = {"base": kept, "others": f"{kept},{kept}"}
        return case
    if is_allowed and isinstance(case.body, dict) and nth % 4:
        case.body = meant(case.body, nth)
        if case.query and case.query.get("format") != "csv":  # only CSV has the other choices
            case.query = {name: text for name, text in case.query.items() if name not in {"sep", "decimal", "bom"}}
    if is_allowed and case.path == "/v1/batches" and nth % 4:
        case.query = {name: text for name, text in case.query.items() if name == "on_error"}
        case.body = [{**MATMUL, "chip": CHIPS[0]}] if isinstance(case.body, list) else case.body
    if is_allowed and case.path == "/v1/cells.csv" and nth % 3:
        case.query = {"metrics": "bound,threshold_m", "op": "matmul", "m": "1,64,512", "k": "8192", "n": "8192"}
        case.query |= {"chip": ",".join(CHIPS), "dtype": "bf16"}
    if not is_allowed and case.query.get("on_error") == "text":  # says in a 200 what it refuses
        del case.query["on_error"]
    if is_allowed and "dtype" in case.query and nth % 2:
        case.query |= {"chip": CHIPS[0], "dtype": "bf16"}
    if is_allowed and case.method == "PUT" and nth % 2:
        base = "hgx-h100-8" if "clusters" in case.path else CHIPS[0]
        case.path_parameters = {"ref": f"made-{nth}"}
        case.headers.clear()
        case.headers["If-None-Match"] = "*"
        case.body = {"base": base, "reason": "made up"}
    return case


def statuses(contract: BaseSchema, address: str, name: str, mode: GenerationMode) -> set[int]:
    """Sends what the contract allows, or forbids, for an operation, and checks every answer against it."""
    found = set()
    kept = httpx.post(f"{address}/v1/analyses", json={"op": MATMUL, "target": {"chip": CHIPS[0]}}).json()["id"]
    ask = numbered(kept)

    @BOUNDED
    @given(case=operation(contract, name).as_strategy(generation_mode=mode))
    def check(case: AnyCase) -> None:
        found.add(ask(case).call_and_validate(base_url=address).status_code)

    check()
    return found


@pytest.mark.parametrize("name", OPERATIONS)
def test_what_is_allowed_is_answered_as_the_contract_says(contract: BaseSchema, address: str, name: str) -> None:
    found = statuses(contract, address, name, GenerationMode.POSITIVE)
    is_named = "{" in name and not name.endswith("{kind}")  # kinds are listed in the contract, other names have to be known
    assert found & ({404} if is_named and not name.startswith("PUT") else {200, 201})


@pytest.mark.parametrize("name", FORBIDDING)
def test_what_is_forbidden_is_refused_as_the_contract_says(contract: BaseSchema, address: str, name: str) -> None:
    assert all(status >= 400 for status in statuses(contract, address, name, GenerationMode.NEGATIVE))


def test_what_was_kept_is_found_by_following_the_links(contract: BaseSchema, address: str) -> None:
    followed = []
    ask = numbered("")

    @BOUNDED
    @given(case=operation(contract, "POST /v1/analyses").as_strategy(generation_mode=GenerationMode.POSITIVE))
    def keep_and_read(case: AnyCase) -> None:
        case.headers.pop("Idempotency-Key", None)  # what is answered again is as it was, not as it is
        kept = ask(case).call_and_validate(base_url=address)
        for link in OPERATIONS["POST /v1/analyses"]["responses"].get(str(kept.status_code), {}).get("links", {}).values():
            target = next(name for name, described in OPERATIONS.items() if described["operationId"] == link["operationId"])
            names = {name: kept.json()[expression.removeprefix("$response.body#/")] for name, expression in link["parameters"].items()}
            read = operation(contract, target).Case(path_parameters=names).call_and_validate(base_url=address)
            assert (read.status_code, read.json()) == (200, kept.json())
            followed.append(target)

    keep_and_read()
    assert "GET /v1/analyses/{id}" in followed
