"""A batch over threads: cut into chunks, worked on by the caller and a shared pool, with progress and interruption.

The caller takes chunks like any helper from the pool and never waits for a helper that has not begun, so
batches may start batches, or be asked for by many threads at once, and all of them move on. The first error,
or Ctrl-C, closes the batch: chunks already running are waited for, then it is raised, and the pool stays usable.
"""

from __future__ import annotations

import _thread
import os
import queue
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeAlias, TypeVar, cast

from ._arrays import positive_int

Result = TypeVar("Result")
Lock: TypeAlias = Any  # a threading.RLock, which is a function there

SMALLEST_CHUNK = 512  # below, waking a thread (about 50 us) costs more than it saves
CHUNKS_PER_THREAD = 4  # so that a thread whose chunks are cheap can take over others'


def run_chunks(
    work: Callable[[int, int], Result],
    count: int,
    *,
    chunk: int = 16384,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> list[Result]:
    """Call `work(start, stop)` for chunks that cover `range(count)`, and return the results in order.

    No chunk is larger than `chunk`; a small batch is cut finer, so that all threads have some. `threads` is how many
    may work at once, None for every usable CPU; `work` should release the GIL. `progress(done, count)` is called on
    the caller's thread and ends with `(count, count)`. An exception in `work` (the first by chunk) or in `progress`
    stops the batch and is raised here. Nothing to do gives an empty list.
    """
    size, threads = _cut(count, chunk, threads)
    if not 0 < count <= size:
        return _Batch(work, count, size).run(threads, progress)
    try:
        results = [work(0, count)]
    except SystemError as error:
        raise _meant(error) from error
    if progress is not None:
        progress(count, count)
    return results


def run_steps(
    work: Callable[[int, int], Iterator[int]],
    count: int,
    *,
    chunk: int = 16384,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Like `run_chunks`, where nobody knows what a chunk costs: `work` is a generator and keeps its results itself.

    It yields how far it has come whenever it may be stopped, several times a second, and is left there when the batch
    ends with an error or Ctrl-C.
    """
    size, threads = _cut(count, chunk, threads)
    if not 0 < count <= size:
        _Steps(work, count, size).run(threads, progress)
        return
    told = 0
    try:
        for reached in work(0, count):
            if progress is not None and told < reached < count:
                told = reached
                progress(reached, count)
    except SystemError as error:
        raise _meant(error) from error
    if progress is not None:
        progress(count, count)


def _cut(count: int, chunk: int, threads: int | None) -> tuple[int, int]:
    """How large chunks are, and how many threads may work."""
    if threads is not None:
        threads = positive_int("threads", threads, 1)
    size = min(chunk, SMALLEST_CHUNK)
    if count > size:
        threads = threads or usable_cpus()
        share = -(-count // (threads * CHUNKS_PER_THREAD)) if threads > 1 else count
        size = min(chunk, max(size, -(-share // 64) * 64))  # in whole cache lines of any output
    return size, threads or 1


def _meant(error: BaseException) -> BaseException:
    """Ctrl-C, where a SystemError comes from that: Numba wraps what is raised while a kernel's arrays return."""
    cause: BaseException | None = error
    while isinstance(cause, SystemError):
        cause = cause.__cause__ or cause.__context__
    return cause if isinstance(cause, KeyboardInterrupt) else error


def usable_cpus() -> int:
    """How many CPUs this process may use now."""
    if hasattr(os, "process_cpu_count"):  # Python 3.13
        return cast("int | None", os.process_cpu_count()) or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Batch(Generic[Result]):
    """Hands out the chunks of one batch and keeps what came of them."""

    def __init__(self, work: Callable[[int, int], Result], count: int, size: int) -> None:
        self.work, self.count, self.size = work, count, size
        self.chunks = -(-count // size)
        self.results: list[Result | None] = [None] * self.chunks
        self.errors: dict[int, BaseException] = {}
        self.following = 0  # the next chunk to hand out
        self.done = 0  # elements of finished chunks
        self.helpers = 0  # that have begun and not ended
        self.closed = False
        self.report: Callable[[], None]  # of the caller
        self.caller = 0
        self.ended: queue.SimpleQueue[None] = queue.SimpleQueue()  # wakes the caller; the truth is in `helpers`
        self.lock = threading.Lock()

    def run(self, threads: int, progress: Callable[[int, int], object] | None) -> list[Result]:
        """On the caller's thread, with up to `threads - 1` helpers."""
        reported = -1

        def report() -> None:
            nonlocal reported
            if progress is not None and self.done > reported and not self.errors:
                reported = self.done
                progress(reported, self.count)

        self.report, self.caller = report, threading.get_ident()
        try:
            _pool.call(self.help, min(threads, self.chunks) - 1)
            while self.run_next():
                report()
            while self.helpers:
                self.ended.get()
                report()
            report()
        except BaseException:
            self.close()
            while self.helpers:
                self.ended.get()
            raise
        finally:
            del self.report  # it refers to the batch, whose arrays would otherwise wait for the garbage collector
        if self.errors:
            # Ctrl-C is never hidden behind a common error.
            raise self.errors[min(self.errors, key=lambda chunk: (isinstance(self.errors[chunk], Exception), chunk))]
        return cast("list[Result]", self.results)

    def help(self) -> None:
        """On a thread of the pool. One that comes too late to find a chunk is not waited for, so it must not count."""
        with self.lock:
            if self.following >= self.chunks:
                return
            self.helpers += 1
        while self.run_next():
            pass
        with self.lock:
            self.helpers -= 1
        self.ended.put(None)

    def run_next(self) -> bool:
        """Take one chunk and work on it; False when there is none left."""
        with self.lock:
            chunk = self.following
            if chunk >= self.chunks:
                return False
            self.following += 1
        start = chunk * self.size
        stop = min(start + self.size, self.count)
        try:
            reported = self.do(chunk, start, stop)
        except BaseException as error:
            self.errors[chunk] = _meant(error)
            self.close()
            return False
        with self.lock:
            self.done += stop - reported
        return not self.closed

    def do(self, chunk: int, start: int, stop: int) -> int:
        """The work of a chunk; how far `done` has been told of it."""
        self.results[chunk] = self.work(start, stop)
        return start

    def close(self) -> None:
        with self.lock:
            self.following = self.chunks
            self.closed = True


class _Steps(_Batch[Iterator[int]]):
    """A batch whose chunks can be stopped between steps."""

    def do(self, chunk: int, start: int, stop: int) -> int:
        for reached in self.work(start, stop):
            with self.lock:
                self.done += reached - start
            start = reached
            if self.closed:
                break
            if threading.get_ident() == self.caller:
                self.report()
        return start


class _Pool:
    """Threads that wait for tasks, started when first needed.

    Not a ThreadPoolExecutor: Ctrl-C in its `submit`, or in `Thread.start`, can leave one of their locks held for ever
    (3 of 10 runs with hundreds of interruptions hung). Here locks are taken and threads started in C, where no
    signal comes between. The interpreter does not wait for such threads when it ends: an idle one has nothing to
    finish, and a busy one has a caller that waits for it.
    """

    def __init__(self) -> None:
        self.tasks: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.size = 0
        self.lock = threading.Lock()

    def call(self, task: Callable[[], None], times: int) -> None:
        """Have the task called by up to so many threads, each when it is free."""
        with self.lock:
            while self.size < times:
                try:
                    _thread.start_new_thread(self.serve, ())
                except RuntimeError:  # no more threads to be had, or the process ends: those there are must do
                    break
                self.size += 1
        for _ in range(min(times, self.size)):
            self.tasks.put(task)

    def serve(self) -> None:
        while True:
            self.tasks.get()()


_pool = _Pool()
_locks: weakref.WeakSet[Lock] = weakref.WeakSet()


def new_lock() -> Lock:
    """A lock that its holder may take again, and that a forked child finds free if another thread holds it then.

    What it guards must be whole at every moment, since nobody ends what was begun: replaced in one step, or made so
    that who takes the lock next can tell and finish it. The lock is Python's own and taken in C, for the reason above.
    """
    lock = threading.RLock()
    _locks.add(lock)
    return lock


def _begin_anew() -> None:
    """A forked child has none of its parent's threads, and has copied the locks that they held."""
    global _pool
    _pool = _Pool()
    for lock in list(_locks):
        if not lock._is_owned():  # by the thread that forked, and goes on here with what it guards
            lock._at_fork_reinit()  # as Python's own modules renew theirs


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
