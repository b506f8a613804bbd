"""What the service counts of itself, in the text form that Prometheus reads.

Labels hold only names of ours: templates of routes, known methods, statuses, codes. So their number is bounded, whatever callers
send. With several workers the counts of all lie in files of one folder (`PROMETHEUS_MULTIPROC_DIR`, which `roofline serve` sets for
its workers), and each worker sends the sums over all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Final, Literal, NamedTuple, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from .. import __version__
from ..catalogue import Catalogue
from ..engine import ENGINE_VERSION
from ..errors import Internal, ServiceError, Unavailable

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
SHARED_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER: Final = "other"
"""The label of methods and paths that no route knows."""

SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Bounds of the classes of durations."""

OUTAGES: Final = frozenset({"database-unavailable", "deadline-exceeded"})
"""The codes of refusals which mean that the database does not answer."""

T = TypeVar("T")


class Served(NamedTuple):
    """One request that is over, in names of ours."""

    method: str
    route: str
    status: int
    seconds: float
    bytes_in: int
    bytes_out: int


class Described(NamedTuple):
    """What a metric is."""

    name: str
    kind: str
    labels: tuple[str, ...]
    meaning: str


class Metrics:
    """All counters of one application; `described` lists them."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._registry = CollectorRegistry()
        self.described: list[Described] = []
        self._requests = self._counter(
            "roofline_http_requests_total",
            "Requests that are over; status 499 where the caller left before the answer.",
            "method",
            "route",
            "status",
        )
        self._seconds = self._histogram(
            "roofline_http_request_duration_seconds", "From the head of a request to the last byte of its answer.", "method", "route"
        )
        self._bytes_in = self._counter("roofline_http_request_body_bytes_total", "Bytes of bodies that were read.", "route")
        self._bytes_out = self._counter("roofline_http_response_body_bytes_total", "Bytes of bodies that were sent.", "route")
        self.in_flight = self._gauge("roofline_http_requests_in_flight", "Requests that are being answered.")
        self.rows = self._counter(
            "roofline_rows_evaluated_total", "Rows that were evaluated; an op of a list of ops counts as the rows that it costs."
        )
        self.saved = self._counter(
            "roofline_analyses_saved_total", "Analyses that were kept (new), and those that were kept before (known).", "outcome"
        )
        self.replays = self._counter(
            "roofline_idempotent_replays_total", "Requests under an idempotency key that were answered as the first time."
        )
        self._running = self._gauge("roofline_pool_running", "Pieces of work that have a thread.", "pool")
        self._waiting = self._gauge("roofline_pool_waiting", "Pieces of work that wait for a thread.", "pool")
        self._threads = self._gauge("roofline_pool_threads", "Threads of a pool.", "pool")
        self._refused = self._counter("roofline_pool_refused_total", "Pieces of work for which there was no room.", "pool")
        self._database_errors = self._counter(
            "roofline_database_errors_total", "Pieces of work that the database failed, by the code of the refusal.", "code"
        )
        self._database_answers = self._gauge(
            "roofline_database_answers",
            "Whether the last piece of work with the database was answered by it; 0 in an outage.",
            over_workers="livemin",
        )
        self._database_answers.set(1)
        info = {"service_version": __version__, "engine_version": ENGINE_VERSION, "catalogue_digest": catalogue.digest}
        self._gauge("roofline_build_info", "What runs; always 1.", *info, over_workers="livemax").labels(**info).set(1)
        self._known: dict[tuple[str, str, int], Callable[[Served], None]] = {}

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        self.described.append(Described(name, "counter", labels, meaning))
        return Counter(name, meaning, labels, registry=self._registry)

    def _histogram(self, name: str, meaning: str, *labels: str) -> Histogram:
        self.described.append(Described(name, "histogram", labels, meaning))
        return Histogram(name, meaning, labels, buckets=SECONDS, registry=self._registry)

    def _gauge(self, name: str, meaning: str, *labels: str, over_workers: Literal["livesum", "livemax", "livemin"] = "livesum") -> Gauge:
        self.described.append(Described(name, "gauge", labels, meaning))
        return Gauge(name, meaning, labels, registry=self._registry, multiprocess_mode=over_workers)

    def served(self, request: Served) -> None:
        """Counts a request that is over."""
        key = (request.method, request.route, request.status)
        count = self._known.get(key)
        if count is None:
            count = self._known[key] = self._counting(*key)
        count(request)

    def _counting(self, method: str, route: str, status: int) -> Callable[[Served], None]:
        """Finding a series by its labels takes longer than counting in it, so it is done once."""
        requests = self._requests.labels(method, route, status)
        seconds = self._seconds.labels(method, route)
        bytes_in, bytes_out = self._bytes_in.labels(route), self._bytes_out.labels(route)

        def count(request: Served) -> None:
            requests.inc()
            seconds.observe(request.seconds)
            if request.bytes_in:
                bytes_in.inc(request.bytes_in)
            bytes_out.inc(request.bytes_out)

        return count

    def pool(self, name: str, threads: int) -> PoolMeter:
        """What the pool `name` tells of its use."""
        self._threads.labels(name).set(threads)
        return PoolMeter(threads, self._running.labels(name), self._waiting.labels(name), self._refused.labels(name))

    def watched(self, work: Callable[[], T]) -> T:
        """What `work` with the database returns or raises; what the database failed is counted."""
        try:
            found = work()
        except (Unavailable, Internal) as error:
            self._database_errors.labels(error.code).inc()
            if error.code in OUTAGES:
                self._database_answers.set(0)
            raise
        except ServiceError:
            raise
        except Exception:
            self._database_errors.labels(Internal.code).inc()
            raise
        self._database_answers.set(1)
        return found

    def text(self) -> bytes:
        """Every series, of all workers."""
        folder = os.environ.get(SHARED_FOLDER)
        return generate_latest(_Plain(MultiProcessCollector(None, folder) if folder else self._registry))  # type: ignore[no-untyped-call]


class PoolMeter:
    """The use of one pool."""

    def __init__(self, threads: int, running: Gauge, waiting: Gauge, refused: Counter) -> None:
        self._threads, self._running, self._waiting, self._refused = threads, running, waiting, refused
        self.show(0)

    def show(self, pieces: int) -> None:
        """So many pieces of work are in the pool now."""
        self._running.set(min(pieces, self._threads))
        self._waiting.set(max(pieces - self._threads, 0))

    def refuse(self) -> None:
        """A piece found no room."""
        self._refused.inc()


class _Plain(Collector):
    """The series of a registry without the times at which each began, which one process knows of itself alone."""

    def __init__(self, source: Collector) -> None:
        self._source = source

    def collect(self) -> Iterator[Metric]:
        for metric in self._source.collect():
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric
