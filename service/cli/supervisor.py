"""Keeps a number of workers alive: started together, replaced when they die, ended together."""

from __future__ import annotations

import multiprocessing
import signal
import socket
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from prometheus_client.multiprocess import mark_process_dead

from ..api.logs import Log
from ..errors import Unavailable
from ..settings import Settings

START_S = 60.0
"""How long [s] the first workers may take to answer."""

SPARE_S = 5.0
"""How much longer [s] than it should a worker may take to end before it is killed."""

PAUSE_S = 1.0
"""Between starts that fail [s]."""

GLANCE_S = 0.1
"""How often [s] signals are looked for."""


class Worker:
    """One process, which tells once when it answers."""

    def __init__(self, work: Callable[[Connection], None]) -> None:
        context = multiprocessing.get_context("spawn")
        self._answers, theirs = context.Pipe(duplex=False)
        self.process: SpawnProcess = context.Process(target=work, args=(theirs,))
        # Ctrl-C reaches every process of a terminal; what becomes of the workers is for the supervisor to say.
        heeded = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self.process.start()
        finally:
            signal.signal(signal.SIGINT, heeded)
            theirs.close()
        self._is_ready = False

    @property
    def is_ready(self) -> bool:
        """Whether it has answered, be it dead since."""
        try:
            self._is_ready = self._is_ready or (self._answers.poll() and self._answers.recv())
        except EOFError:
            return False
        return self._is_ready

    @property
    def is_alive(self) -> bool:
        return self.process.is_alive()

    def bury(self) -> None:
        self.process.join()
        self._answers.close()


class Supervisor:
    """Runs `settings.workers` processes that do `work`."""

    def __init__(self, work: Callable[[Connection], None], settings: Settings, log: Log) -> None:
        self._work = work
        self._count = settings.workers
        self._patience_s = settings.stop_delay_s + settings.drain_s + SPARE_S
        self._log = log
        self._workers: list[Worker] = []
        self._told: signal.Signals | None = None

    def run(self, listener: socket.socket, *, announce: Callable[[], None]) -> None:
        """Until a signal. Raises Unavailable if they cannot be started, KeyboardInterrupt after Ctrl-C."""
        for heard in (signal.SIGTERM, signal.SIGINT):
            signal.signal(heard, self._hear)
        try:
            self._start()
            if self._told is None:
                announce()
            while self._told is None:
                wait([worker.process.sentinel for worker in self._workers], GLANCE_S)
                self._replace_the_dead()
        finally:
            listener.close()  # the workers have it too: when the last one closes it, callers are refused and do not wait
            self._end()
        if self._told is signal.SIGINT:
            raise KeyboardInterrupt

    def _hear(self, heard: int, _frame: object) -> None:
        self._told = signal.Signals(heard)

    def _start(self) -> None:
        self._workers = [Worker(self._work) for _ in range(self._count)]
        deadline = time.monotonic() + START_S
        while self._told is None and not all(worker.is_ready for worker in self._workers):
            if time.monotonic() > deadline or not all(worker.is_alive for worker in self._workers):
                raise Unavailable("A worker could not be started; the log says why.")
            time.sleep(GLANCE_S)

    def _replace_the_dead(self) -> None:
        for at, worker in enumerate(self._workers):
            if self._told is None and not worker.is_alive:
                was_ready = worker.is_ready
                self._bury(worker)
                if not was_ready:
                    time.sleep(PAUSE_S)
                self._workers[at] = Worker(self._work)

    def _bury(self, worker: Worker) -> None:
        self._log.warning("worker died", pid=worker.process.pid, status=worker.process.exitcode)
        worker.bury()
        mark_process_dead(worker.process.pid)  # type: ignore[no-untyped-call]

    def _end(self) -> None:
        for worker in self._workers:
            worker.process.terminate()
        deadline = time.monotonic() + self._patience_s
        for worker in self._workers:
            worker.process.join(max(0.0, deadline - time.monotonic()))
            if worker.is_alive:
                self._log.error("worker killed", pid=worker.process.pid)
                worker.process.kill()
            worker.bury()
