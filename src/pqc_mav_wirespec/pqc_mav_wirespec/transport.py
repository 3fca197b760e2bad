# SPDX-License-Identifier: Apache-2.0
"""How one attempt's messages travel: datagrams and times in, datagrams and deadlines out (docs/protocol.md section 5).

No socket and no clock. Times are seconds of any monotonic clock. A path is an index into the attempt's addresses, in
the order in which they were first seen; a drone and an attempt inside a session have only path 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .encoding import FRAME_HEADER_BYTES, Limits, u32
from .errors import MalformedError
from .fragments import Assembly
from .hsframes import Ack, CookieFrame, Fragment, FragmentKeys, Frame, seal_datagram
from .messages import LARGEST_DATAGRAM_BYTES
from .rtt import FIRST_PTO_DRONE_S, FIRST_PTO_GCS_S, QUIET_S, Rtt
from .sender import FIRST_WINDOW, MessageSender
from .transport_state import NEVER, Acking, Hello, PathState, Took

IP_UDP_BYTES = 28
AMPLIFICATION = 3
COPY_GAP_S = 0.02
FIRST_FLIGHT_COPIES, COPIES = 3, 2
ACK_EVERY = 8
COMPLETE_ACK_S = 1.0
MAX_PATHS = 4
ELSEWHERE = MAX_PATHS  # no address of the attempt
RETRY_GAP_S, SAME_RETRY_GAP_S = 0.005, 0.05
ANSWERS_AGAIN_GAP_S = 0.010
DOUBLED_FRAGMENTS = 2


def first_flight(bare: int, need: int, limit: int) -> list[int]:
    """The sizes of the first three copies of M1 (docs/protocol.md section 5, rule 2). `bare`: of an unpadded one."""
    each = -(-need // 3)
    total = 3 * min(max(min(limit + bare, each) - 2 * bare, bare), limit)
    first = min(max(each, bare), limit)
    other = min(max((total - first) // 2, bare), limit)
    return [first, other, other]


class Transport:
    """One end of one attempt. `keys` is None inside a session, where the AEAD stands for tags."""

    def __init__(
        self,
        *,
        is_drone: bool,
        attempt: bytes,
        keys: FragmentKeys | None,
        now: float,
        first_packet: int = 0,
        limit: int = LARGEST_DATAGRAM_BYTES,
    ) -> None:
        self._is_drone, self._attempt, self._keys = is_drone, attempt, keys
        self._limit = limit
        self.in_session = keys is None
        self.rtt = Rtt(FIRST_PTO_DRONE_S if is_drone else FIRST_PTO_GCS_S)
        self.timeouts = 0
        self._next_packet = first_packet
        self._sent_at: dict[int, tuple[float, int]] = {}
        self._used_echo: set[int] = set()
        self._paths: list[PathState] = []
        self._answers = 0
        self._highest, self._highest_at = -1, 0.0
        self._hello: Hello | None = None
        self._m1: bytes | None = None
        self._cookie: bytes | None = None
        self._retried_at = -1.0
        self._sender: MessageSender | None = None
        self._answer_began = False
        self._former: set[int] = set()
        self._pto_from = self._pace_at = 0.0
        self._last_timeout = -1.0
        self._blocked = False
        self._copies: list[tuple[float, int]] = []
        self._assembly: Assembly | None = None
        self._done: set[int] = set()
        self._allowed: dict[int, Limits] = {}
        self._acking = Acking()
        self._silenced = False  # M2 was acknowledged whole, so that the gcs has nothing to send (rule 8)
        self._message: bytes | None = None
        self._final: bytes | None = None
        self._final_due: list[float] = []
        self._final_again: list[int] = []
        self._final_last: dict[int, float] = {}  # by path
        self._final_path = 0
        self.lossy = False
        self.arriving = False
        self.last_progress = now

    # --- what is to be sent

    def start_hello(self, m1: bytes, need: int, *, proven: bool, now: float) -> None:
        """The drone's first flight. `need` is what M2 may take with its datagrams' overhead."""
        copies = COPIES if proven or self.in_session else FIRST_FLIGHT_COPIES
        sizes = [0] * copies if proven or self.in_session else first_flight(len(m1) + 30, need, self._limit)
        self._m1 = m1
        self._hello = Hello(m1, [(now + COPY_GAP_S * number, size) for number, size in enumerate(sizes)])
        self._hello.timeout_at = now + self.rtt.pto()

    def set_cookie(self, cookie: bytes, now: float) -> None:
        """A Retry verified: M1 goes again at once with the cookie, twice, or once where M2 has begun to arrive."""
        gap = SAME_RETRY_GAP_S if cookie == self._cookie else RETRY_GAP_S
        if self._m1 is None or 2 in self._done or now < self._retried_at + gap:
            return
        self._cookie, self._retried_at = cookie, now
        copies = COPIES
        if self._hello is None:
            self._hello, copies = Hello(self._m1), 1
        self._hello.due = [(now + COPY_GAP_S * number, 0) for number in range(copies)]
        self._hello.timeout_at = NEVER if self.arriving else now + self.rtt.pto(self._hello.timeouts)

    def hold_hello(self, until: float) -> None:
        """A Reject 5: nothing more of M1 until then."""
        if self._hello is not None:
            self._hello.due, self._hello.timeout_at = [], until
            self.last_progress = until

    def start(self, whole_frame: bytes, now: float) -> None:
        """Any other message but M4; the answer to what came in, so the former one is acknowledged by it."""
        if self._sender is not None:
            self._former.add(self._sender.message)
        self._hello = None
        self._acking = Acking()
        self._sender = MessageSender(
            whole_frame,
            self._limit,
            self.rtt,
            in_session=self.in_session,
            parity=not self.in_session or self.lossy,
            next_packet=self._next_packet,
        )
        self._answer_began = False
        self._pto_from = self._pace_at = now
        self._copies = []

    def finish(self, m4: bytes, path: int, now: float) -> None:
        """The gcs' last message: sent at once, and again when M3 comes again."""
        if self._sender is not None:
            self._former.add(self._sender.message)
        self._sender, self._final, self._final_path = None, m4, path
        self._acking = Acking()
        self._final_due = [now, now + COPY_GAP_S] if self.lossy else [now]

    def expect(self, allowed: Mapping[int, Limits]) -> None:
        """The messages that may come next, with the limits of their bodies."""
        self._allowed = dict(allowed)

    def answered_by(self, path: int) -> None:
        """Somebody who gets what is sent there answered."""
        state = self._path(path)
        if state.answered:
            return
        has_all = path in self._targets()
        self._answers += 1
        state.answered = self._answers
        if self._sender is not None and not has_all:
            self._sender.again()

    def join(self, used: int) -> int:
        """The path of an address that answered and is none of the attempt's; `used` of them are taken."""
        path = used if used < MAX_PATHS else min(range(MAX_PATHS), key=lambda each: self._path(each).answered)
        self._path(path).answered = 0
        self.answered_by(path)
        return path

    def lift(self) -> None:
        """A return proof speaks for path 0: one window before it answers."""
        self._path(0).credit += int(FIRST_WINDOW) * (self._limit + IP_UDP_BYTES)

    def has_answered(self, path: int) -> bool:
        """Whether it is known to reach the drone."""
        return self._path(path).answered > 0

    @property
    def answered(self) -> bool:
        """Whether any address has."""
        return self._answers > 0

    def _path(self, path: int) -> PathState:
        while len(self._paths) <= path:
            self._paths.append(PathState())
        return self._paths[path]

    # --- what comes

    def take_message(self) -> bytes | None:
        """The message that became complete, once."""
        message, self._message = self._message, None
        return message

    def on_datagram(self, packet: int, frames: tuple[Frame, ...], path: int, length: int, now: float) -> Took:
        """Takes a datagram of this attempt whose tag verified; `length` is that of its UDP payload."""
        if path != ELSEWHERE:
            self._path(path).credit += AMPLIFICATION * (length + IP_UDP_BYTES)
        self._blocked = False
        try:
            for frame in frames:
                self._check(frame)
        except MalformedError:
            return Took.MALFORMED
        if any(isinstance(frame, Fragment) and frame.message == 9 for frame in frames):
            return self._take_reject(frames)
        moved = packet > self._highest
        if moved:
            self.lossy |= packet > self._highest + 1 and (self._highest >= 0 or self._is_drone is False)
            self._highest, self._highest_at = packet, now
        took = [self._take(frame, path, now) for frame in frames]
        return Took.TAKEN if any(took) else Took.REPEATED

    def _check(self, frame: Frame) -> None:
        if isinstance(frame, Ack):
            if self._sender is not None and frame.message == self._sender.message:
                self._sender.check(frame)
            elif frame.message != 1 and frame.message not in self._former:
                raise MalformedError(f"an ACK of message {frame.message}, which was not sent")
            elif frame.message == 1 and (frame.base > 1 or frame.here):
                raise MalformedError("an ACK of more than M1")
        elif isinstance(frame, Fragment):
            if frame.message in self._done:
                return
            limits = self._allowed.get(frame.message)
            if limits is None:
                raise MalformedError(f"message {frame.message} is not due")
            if not limits[0] <= frame.total - FRAME_HEADER_BYTES <= limits[1]:
                raise MalformedError(f"message {frame.message} of {frame.total} bytes")
            begun = self._assembly
            if begun is not None and begun.message == frame.message and begun.total != frame.total:
                raise MalformedError(f"message {frame.message} had {begun.total} bytes, now {frame.total}")

    def _take_reject(self, frames: tuple[Frame, ...]) -> Took:
        """Its packet number is not counted, and nothing else of it; ignored once M2 began to arrive."""
        fragment = next(frame for frame in frames if isinstance(frame, Fragment))
        if self.arriving or fragment.total != len(fragment.data):
            return Took.REPEATED
        self._message = fragment.data
        return Took.TAKEN

    def _take(self, frame: Frame, path: int, now: float) -> bool:
        if isinstance(frame, Ack):
            return self._take_ack(frame, now)
        if isinstance(frame, Fragment):
            return self._take_fragment(frame, path, now)
        return False

    def _take_ack(self, ack: Ack, now: float) -> bool:
        sent = self._sent_at.get(ack.echo)
        fresh = sent is not None and ack.echo not in self._used_echo
        if sent is not None:
            self._echoed(sent[1])
        if fresh and sent is not None:
            self._used_echo.add(ack.echo)
            rtt = now - sent[0] - ack.delay_ms / 1000
            self.rtt.sample(rtt)
            if self._sender is not None:
                self._sender.sample(max(rtt, 0.0))
        sender = self._sender
        if sender is None or ack.message != sender.message:
            return fresh
        lost = sender.lost
        new = sender.on_ack(ack, sent is not None, self._next_packet)
        self.lossy |= sender.lost > lost
        if new or (ack.base == sender.cut.count and sender.complete):
            self.last_progress = now
        if new:
            self._pto_from = now
        return new or fresh

    def _echoed(self, path: int) -> None:
        """A datagram that went to this path arrived, wherever the ACK came from."""
        if not self._is_drone and not self.in_session and path != ELSEWHERE:
            self.answered_by(path)

    def _take_fragment(self, fragment: Fragment, path: int, now: float) -> bool:
        if fragment.message in self._done:
            self._answer_again(fragment, path, now)
            return False
        begun = self._assembly
        first = begun is None
        if begun is None or begun.message != fragment.message or fragment.size < begun.size:
            begun = Assembly(fragment.message, fragment.total, fragment.size)
        elif fragment.size > begun.size:
            return False
        self._assembly = begun
        self.arriving = self._answer_began = True
        self._hello = None
        if not begun.add(fragment):
            return False
        self.last_progress = now
        if fragment.message == 3 and not self._is_drone and not self.in_session and not self.answered:
            self.answered_by(0)  # M2 went nowhere else
        acking = self._acking
        acking.since += 1
        acking.repeats = 0
        whole = begun.complete
        if whole is not None:
            self._message = whole
            self._done.add(fragment.message)
            self._acking = Acking(due=now + QUIET_S, complete=True)
        else:
            # of the first fragment of M2 the gcs may have to hear before it goes on (rule 3)
            awaited = first and fragment.message == 2 and not self.in_session
            acking.due = now if awaited or acking.since % ACK_EVERY == 0 else now + QUIET_S
        return True

    def _answer_again(self, fragment: Fragment, path: int, now: float) -> None:
        if self._final is None or fragment.message != 3:
            return
        if path == ELSEWHERE or now - self._final_last.get(path, -1.0) >= ANSWERS_AGAIN_GAP_S:
            self._final_last[path] = now
            self._final_again.append(path)

    # --- output and time

    def deadline(self) -> float:
        """When `poll` is due next, NEVER when nothing is."""
        times = [self._acking.due, *self._final_due, *(at for at, _ in self._copies)]
        if self._final_again:
            times.append(0.0)
        if self._hello is not None:
            times += [at for at, _ in self._hello.due] + [self._hello.timeout_at]
        if self._sender is not None and not self._blocked:
            if self._sender.next_index() is not None:
                times.append(self._pace_at)
            times.append(self._timeout_at())
        return min(times)

    def _timeout_at(self) -> float:
        sender = self._sender
        if sender is None:
            return NEVER
        unanswered = sender.message in (3, 5) and sender.complete and not self._answer_began
        if not sender.waiting and not unanswered:
            return NEVER
        return self._pto_from + self.rtt.pto(sender.timeouts)

    def poll(self, now: float) -> list[tuple[int, bytes]]:
        """All datagrams (with their paths) that are due."""
        out: list[tuple[int, bytes]] = []
        self._poll_hello(out, now)
        self._poll_acks(out, now)
        if now >= self._timeout_at() and not self._blocked:
            self._on_timeout(out, now)
        self._poll_sender(out, now)
        for due in [due for due in self._final_due if due <= now]:
            self._final_due.remove(due)
            self._send_final(out, dict.fromkeys([*self._targets(), self._final_path]), now)
        self._send_final(out, self._final_again, now)
        self._final_again = []
        return out

    def _send_final(self, out: list[tuple[int, bytes]], paths: Iterable[int], now: float) -> None:
        for path in paths:
            if self._final is not None:
                self._emit(out, path, [single(self._final)], now)

    def _poll_hello(self, out: list[tuple[int, bytes]], now: float) -> None:
        hello = self._hello
        if hello is None:
            return
        if now >= hello.timeout_at:
            hello.timeouts += 1
            self.timeouts += 1
            self.lossy = True
            hello.due = [(now, 0), (now + COPY_GAP_S, 0)]
            hello.timeout_at = now + self.rtt.pto(hello.timeouts)
        for at, padded in [entry for entry in hello.due if entry[0] <= now]:
            hello.due.remove((at, padded))
            frames: list[Frame] = [single(hello.frame)]
            if self._cookie is not None:
                frames.append(CookieFrame(self._cookie))
            self._emit(out, 0, frames, now, padded)

    def _poll_acks(self, out: list[tuple[int, bytes]], now: float) -> None:
        acking, begun = self._acking, self._assembly
        if now < acking.due or begun is None:
            return
        for path in self._targets():
            self._emit(out, path, [self._ack(begun, now)], now)
        if acking.complete:
            self._silenced |= begun.message == 2
            acking.due = now + COMPLETE_ACK_S
            self.last_progress = now
        else:
            acking.due = now + self.rtt.ack_repeat(acking.repeats)
            acking.repeats += 1

    def _ack(self, begun: Assembly, now: float) -> Ack:
        delay_ms = int((now - self._highest_at) * 1000)
        return Ack.of(begun.message, max(self._highest, 0), delay_ms, begun.count, begun.have)

    def _on_timeout(self, out: list[tuple[int, bytes]], now: float) -> None:
        sender = self._sender
        if sender is None:
            return
        arrived = self._highest_at > max(self._last_timeout, 0.0) or self._silenced
        self._last_timeout = self._pto_from = now
        self.lossy = True
        self.timeouts += 1
        if sender.complete:
            self._send_fragment(out, sender.repeat(), now)
            return
        sender.on_timeout()
        if sender.total_timeouts >= 2 and arrived and not sender.big_acked and sender.can_shrink:
            sender.shrink(not self.in_session or self.lossy, self._next_packet)

    def _poll_sender(self, out: list[tuple[int, bytes]], now: float) -> None:
        sender = self._sender
        while sender is not None and not self._blocked and now >= self._pace_at:
            index = sender.next_index()
            if index is None:
                break
            if not self._send_fragment(out, index, now):
                self._blocked = True
                break
            self._pace_at = now + sender.pace
            if sender.message == 3 and sender.cut.count <= DOUBLED_FRAGMENTS and self.lossy and sender.timeouts == 0:
                self._copies.append((now + COPY_GAP_S, index))
        for at, index in [entry for entry in self._copies if entry[0] <= now]:
            self._copies.remove((at, index))
            if sender is not None and index not in sender.acked:
                self._send_fragment(out, index, now)

    def _send_fragment(self, out: list[tuple[int, bytes]], index: int, now: float) -> bool:
        """Sends one fragment on every path that is to have it; False where rule 3 forbids all."""
        sender = self._sender
        if sender is None:
            return False
        first = not sender.waiting
        frames: list[Frame] = [sender.cut.fragment(index)]
        if sender.message == 2 and not sender.any_ack and self._highest >= 0:
            frames.append(Ack(1, self._highest, min(int((now - self._highest_at) * 1000), 0xFFFF), 1))
        sent = False
        for path in self._targets():
            packet = self._next_packet
            length = self._emit(out, path, frames, now)
            if length:
                sent = True
                sender.on_sent(index, packet, now, length)
        if sent and first:
            self._pto_from = now
        return sent

    def _targets(self) -> list[int]:
        if self._is_drone or self.in_session:
            return [0]
        answered = [path for path in range(len(self._paths)) if self._paths[path].answered]
        return answered or [0]

    def _emit(self, out: list[tuple[int, bytes]], path: int, frames: list[Frame], now: float, padded: int = 0) -> int:
        """Seals a datagram for a path and returns its length, 0 where rule 3 forbids it."""
        packed = b"".join(frame.pack() for frame in frames)
        if self._keys is None:
            datagram = self._attempt + u32(self._next_packet) + packed
        else:
            packed += bytes(max(0, padded - len(packed) - 21))
            datagram = seal_datagram(
                self._keys, is_drone=self._is_drone, attempt=self._attempt, packet=self._next_packet, frames=packed
            )
            if not self._is_drone and path != ELSEWHERE and not self._path(path).answered:
                cost = len(datagram) + IP_UDP_BYTES
                if self._path(path).credit < cost:
                    return 0
                self._path(path).credit -= cost
        self._sent_at[self._next_packet] = (now, path)
        self._next_packet += 1
        out.append((path, datagram))
        return len(datagram)


def single(whole_frame: bytes) -> Fragment:
    """A message that goes as one fragment."""
    return Fragment(whole_frame[4], len(whole_frame), len(whole_frame), 0, whole_frame)
