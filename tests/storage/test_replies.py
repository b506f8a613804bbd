"""Replies under idempotency keys: one effect, whoever comes when, and nothing of an effect that failed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import func, select

from service.errors import Conflict, InvalidInput
from service.storage import AnalysisStore, Attempt, Database, Reply, ReplyStore, Transactions
from service.storage.replies import KEPT_S
from service.storage.tables import IDEMPOTENCY_KEYS

from .examples import analysis

DAY_US = KEPT_S * 1_000_000
FIRST = Attempt(caller="ann", key_digest="k", request_digest="r", at_us=1_700_000_000_000_000)


def adding(number: int) -> Callable[[Transactions], Reply]:
    """An effect: the analysis of this number, and an answer that tells it."""

    def effect(transactions: Transactions) -> Reply:
        kept, is_new = AnalysisStore(transactions).add(analysis(number))
        return Reply(status=201 if is_new else 200, headers={"location": kept.id}, body=f'"größer {number}"'.encode())

    return effect


def ids(database: Database) -> list[str]:
    return [each.id for each in AnalysisStore(database).page(200, order_by="created_at").items]


def keys(database: Database) -> int:
    count: int = database.read(lambda connection: connection.execute(select(func.count()).select_from(IDEMPOTENCY_KEYS)).scalar_one())
    return count


def test_the_same_request_again_gets_the_same_answer_and_has_no_effect(database: Database) -> None:
    store = ReplyStore(database)
    assert store.find(FIRST) is None
    first = store.once(FIRST, adding(1))
    assert first == Reply(status=201, headers={"location": "an_000001"}, body='"größer 1"'.encode())
    again = replace(FIRST, at_us=FIRST.at_us + DAY_US - 1)
    assert store.find(again) == store.once(again, adding(2)) == replace(first, is_replay=True)
    assert ids(database) == ["an_000001"]


def test_another_request_under_a_key_is_refused(database: Database) -> None:
    store = ReplyStore(database)
    store.once(FIRST, adding(1))
    other = replace(FIRST, request_digest="s")
    asks: list[Callable[[], object]] = [lambda: store.find(other), lambda: store.once(other, adding(2))]
    for ask in asks:
        with pytest.raises(InvalidInput) as refused:
            ask()
        assert [(fault.pointer, fault.code) for fault in refused.value.faults] == [("/header/idempotency-key", "idempotency-key-reused")]
    assert ids(database) == ["an_000001"]


def test_keys_of_two_callers_and_two_keys_of_one_have_nothing_to_do_with_each_other(database: Database) -> None:
    store = ReplyStore(database)
    for number, attempt in enumerate((FIRST, replace(FIRST, caller="bob", request_digest="s"), replace(FIRST, key_digest="l"))):
        assert store.once(attempt, adding(number)).body == f'"größer {number}"'.encode()
    assert ids(database) == ["an_000000", "an_000001", "an_000002"]


def test_a_key_whose_time_is_over_is_free_for_another_request(database: Database) -> None:
    store = ReplyStore(database)
    store.once(FIRST, adding(1))
    later = replace(FIRST, request_digest="s", at_us=FIRST.at_us + DAY_US)
    assert store.find(later) is None
    assert store.once(later, adding(2)).headers == {"location": "an_000002"}
    assert store.find(later) is not None
    assert keys(database) == 1


def test_keys_whose_time_is_over_are_removed_by_later_requests(database: Database) -> None:
    store = ReplyStore(database)
    for number in range(5):
        store.once(replace(FIRST, key_digest=f"k{number}"), adding(number))
    store.once(replace(FIRST, key_digest="later", at_us=FIRST.at_us + DAY_US), adding(6))
    assert keys(database) == 1


def test_an_effect_that_fails_leaves_neither_rows_nor_a_key(database: Database) -> None:
    store = ReplyStore(database)

    def effect(transactions: Transactions) -> Reply:
        adding(1)(transactions)
        raise Conflict("half way")

    with pytest.raises(Conflict, match="half way"):
        store.once(FIRST, effect)
    assert (ids(database), keys(database)) == ([], 0)
    assert store.once(FIRST, adding(2)).is_replay is False
    assert ids(database) == ["an_000002"]


def test_of_many_at_once_one_has_the_effect_and_all_have_its_answer(database: Database) -> None:
    store, ready = ReplyStore(database), threading.Barrier(6)

    def ask(number: int) -> Reply:
        ready.wait(30)
        return store.once(FIRST, adding(number))

    with ThreadPoolExecutor(6) as callers:
        replies = list(callers.map(ask, range(6)))
    (body,) = {reply.body for reply in replies}
    assert sorted(reply.is_replay for reply in replies) == [False, *[True] * 5]
    assert [f'"größer {int(each.removeprefix("an_"))}"'.encode() for each in ids(database)] == [body]


def test_who_waits_for_one_that_fails_has_the_effect_itself(database: Database) -> None:
    store, begun = ReplyStore(database), threading.Event()

    def fail(_transactions: Transactions) -> Reply:
        begun.set()
        second.wait(0.3)
        raise Conflict("half way")

    second = threading.Event()
    with ThreadPoolExecutor(2) as callers:
        failing = callers.submit(store.once, FIRST, fail)
        assert begun.wait(30)
        waiting = callers.submit(store.once, FIRST, adding(2))
        assert isinstance(failing.exception(30), Conflict)
        assert waiting.result(30).is_replay is False
    assert ids(database) == ["an_000002"]
