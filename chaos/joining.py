# SPDX-License-Identifier: Apache-2.0
"""`chaos/run joining`: does anybody but the drone get its keys when it joins by a line? (needs root; in `make chaos`)

The thief overhears and replays everything; has a line that was used, or whose time is over; knows of a live line all
but the secret, or all of it but plays the ground; or floods the port. docs/joining.md says what is claimed.
"""

import argparse
import contextlib
import random
import time
from base64 import b64decode
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace

import air
import attacks
import joining_thief
import pqc_mav_tunnel
import tables
from air import DRONE, GCS, STRANGER
from ends import End
from joining_room import PORT, Repeater, Room
from links import Link

from pqc_mav_cli.joining import channel, line
from pqc_mav_sim.impairment.settings import Impairment

# What a stranger may hear, fewer bytes than it sent: Retry to a replayed hello, Restart to a frame of no session.
NOTHING = (0x53, 0x63)
HANDSHAKE = 0x43  # of the gcs; its attempt follows
FLOOD_S = 5.0
GUESSES = 3


@dataclass
class Row:
    """What was tried, what became of it, and what is not as it must be."""

    name: str
    tried: str
    outcome: str = ""
    problems: list[str] = field(default_factory=list)

    def need(self, holds: bool, problem: str) -> None:
        """Take note of what does not hold."""
        if not holds:
            self.problems.append(problem)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--only", default="", metavar="NAME,NAME", help="of the rows (default: all)")
    parser.add_argument("--seed", type=int, default=1)


def run(options: argparse.Namespace) -> int:
    """Try everything, print and write; 0 when all is as it must be."""
    wanted = [name for name in options.only.split(",") if name] or list(ROWS)
    if unknown := [name for name in wanted if name not in ROWS]:
        print(f"joining: there is no row '{unknown[0]}'; there are {', '.join(ROWS)}.")
        return 2
    rows = []
    with Room(options.seed) as room:
        for name in wanted:
            room.fresh()
            tried, attempt = ROWS[name]
            rows.append(Row(name, tried))
            attempt(room, rows[-1], random.Random(options.seed))
            print(f"{'ok' if not rows[-1].problems else 'FAILED':6} {name:18} {rows[-1].outcome}", flush=True)
            for problem in rows[-1].problems:
                print(f"       {problem}", flush=True)
    failed = [row.name for row in rows if row.problems]
    machine = tables.machine()
    content = {"machine": machine, "rows": [asdict(row) for row in rows]}
    tables.keep(options.output, "joining", page(rows, machine), content, part=len(rows) < len(ROWS))
    return 1 if failed else 0


def page(rows: list[Row], machine: str) -> str:
    """The results page."""
    text = "# Joining by a line, and thieves\n\nWritten by `tools/run chaos/run joining`, which `make chaos` runs too. "
    text += f"The thief overhears the whole air and sends from any address.\n\n*{machine}*\n\n"
    lines = [(row.tried, row.outcome, "; ".join(row.problems) or "ok") for row in rows]
    return text + tables.markdown(("tried", "what became of it", "verdict"), lines)


def joined(room: Room, row: Row, text: str, what: str = "the drone") -> str:
    """Have the drone join; it must get the keys that the ground has for it. Returns its last sentence."""
    code, said = room.join(text)
    row.need(code == 0, f"{what} did not join: {said}")
    row.need(room.keys_of(room.drone) == room.keys_of(room.ground), f"{what} has other keys than the ground has for it")
    return said


def robbed(room: Room, row: Row, text: str, *options: str) -> str:
    """Have the thief join by a line; it must get nothing. Returns what it was told."""
    code, said = room.join(text, room.thief, *options)
    row.need(code != 0 and not room.keys_of(room.thief), f"the thief got keys: {said}")
    return said.removeprefix("pqcmav: error: ")


def bad_link(room: Room, row: Row, _generator: random.Random) -> None:
    """No thief: 30 % of the frames lost each way."""
    room.network.joint.impair(Link(rtt_ms=100, loss=0.3).impairment())
    _, text = room.invite()
    began_s = time.monotonic()
    joined(room, row, text)
    row.outcome = f"joined in {time.monotonic() - began_s:.1f} s"
    room.network.joint.impair(Impairment().to_dict())


def overheard(room: Room, row: Row, _generator: random.Random) -> None:
    """A recording of everything, and afterwards the line."""
    _, text = room.invite()
    with room.record() as recording:
        joined(room, row, text)
    found = joining_thief.try_to_read(recording.flows, line.read(text))
    row.need(found.tags > 10 and found.frames > 10, f"the thief is no good: {found}")
    row.need(not found.opened and not found.confirmed, f"the thief read the exchange: {found}")
    psk = b64decode(room.keys_of(room.drone)["psk.key"].splitlines()[-1])
    row.need(not any(psk in flow.frame for flow in recording.flows), "the PSK was on the air in clear")
    row.outcome = (
        f"with the secret {found.tags} tags of the recording verify, but none of {found.tried} keys opens one of its "
        f"{found.frames} frames"
    )


def replayed(room: Room, row: Row, _generator: random.Random) -> None:
    """What the drone says is repeated at once, from two addresses; then all of it to the next invitation."""
    invitation, text = room.invite()
    with room.record() as recording:
        repeater = Repeater(room, recording.flows)
        joined(room, row, text)
        repeater.close()
    code = invitation.wait(60)
    row.need(code == 0 and not any("got nothing" in each for each in invitation.lines), "the ground saw another taker")
    row.need(repeater.sent > 50, f"the thief sent {repeater.sent} datagrams only")
    wrong = more_than_copies_buy(repeater.heard, repeater.spent)
    row.need(not wrong, wrong)
    room.fresh()
    _, text = room.invite()
    again = Repeater(room, recording.flows)
    said = joined(room, row, text, "the next drone")
    again.close()
    more = [each for each in again.heard if each[0] not in NOTHING]
    row.need(not more, f"{len(more)} answers came from the next invitation")
    nothing = sum(each[0] in NOTHING for each in (*repeater.heard, *again.heard))
    row.outcome = f"{repeater.sent:,} and {again.sent:,} copies, {nothing} times Retry or Restart came back; {said}"


def more_than_copies_buy(heard: Sequence[bytes], spent: int) -> str:
    """What came back that docs/protocol.md does not have, "" for nothing.

    If a copy overtakes the drone's own hello, one ServerHello goes to the thief (section 6); if it overtakes a packet,
    challenges and copies do (section 14).
    """
    answers = [each for each in heard if each[0] not in NOTHING]
    handshakes = {each[1:9] for each in answers if each[0] == HANDSHAKE}
    if len(handshakes) > 1:
        return f"answers of {len(handshakes)} handshakes came to the thief"
    got = sum(map(len, answers))
    return f"the thief got {got} bytes for {spent}" if got > 3 * spent else ""


def used(room: Room, row: Row, _generator: random.Random) -> None:
    """A line that was used, while nothing waits and while the next invitation does."""
    invitation, text = room.invite()
    joined(room, row, text)
    invitation.wait(60)
    alone = robbed(room, row, text)
    room.fresh()
    _, fresh = room.invite()
    later = robbed(room, row, text, "--wait 5")
    row.need("this line was used" in alone and "earlier invitation" in later, f"other sentences: {alone} / {later}")
    joined(room, row, fresh, "the next drone")
    row.outcome = f"“{alone.split(';')[0]}”; the next line works all the same"


def late(room: Room, row: Row, _generator: random.Random) -> None:
    """A line whose time is over, with a clock that says it is not."""
    invitation, text = room.invite("--minutes", "0.05")
    row.need(invitation.wait(60) == 1, "the invitation did not end by itself")
    asked = line.read(text)
    row.outcome = f"“{robbed(room, row, replace(asked, until_s=asked.until_s + 3600).text()).split(';')[0]}”"


def guessed(room: Room, row: Row, generator: random.Random) -> None:
    """All of a line but its secret: whole attempts, and hellos as fast as this machine sends."""
    _, text = room.invite()
    asked = line.read(text)
    for _ in range(GUESSES):
        robbed(room, row, replace(asked, secret=generator.randbytes(32)).text(), "--wait 2")
    names = _names()
    heard, sent, end_s = 0, 0, time.monotonic() + FLOOD_S
    with room.own_socket() as thief:
        while time.monotonic() < end_s:
            with contextlib.suppress(OSError):
                thief.sendto(attacks.false_hello(generator, **names), (GCS, PORT))
                sent += 1
            with contextlib.suppress(OSError):
                thief.recv(2048)
                heard += 1
    row.need(sent > 1000 and heard == 0, f"{sent} hellos, {heard} answers")
    joined(room, row, text)
    row.outcome = f"{GUESSES} attempts and {sent:,} hellos, not one answered (20,000/s are looked at; 2^256 secrets)"


def _names() -> dict[str, str]:
    suite = pqc_mav_tunnel.find_suite(channel.SUITE)
    return {"drone_id": channel.ID, "suite": suite.id, "kem": suite.kem_name, "sig": suite.sig_name}


def other_ground(room: Room, row: Row, _generator: random.Random) -> None:
    """The thief has a live line and diverts the drone to itself."""
    _, text = room.invite()
    asked = line.read(text)
    with joining_thief.ground_keys(asked) as keys:
        fake = End(joining_thief.ground_config(keys, STRANGER), room.thief.space.descriptor)
        try:
            code, said = room.join(replace(asked, host=STRANGER).text(), None, "--wait 6")
            state = fake.status()
        finally:
            fake.close()
    row.need(code != 0 and not room.keys_of(room.drone), f"the drone took keys of the thief: {said}")
    row.need("is not the ground station that printed it" in said, f"another sentence: {said}")
    row.need(state["handshakes_ok"] == 0, "the thief has a session with the drone")
    joined(room, row, text)
    row.outcome = f"“{said.removeprefix('pqcmav: error: ')}”"


def flooded(room: Room, row: Row, generator: random.Random) -> None:
    """Random datagrams and false hellos at the port while the drone joins."""
    _, text = room.invite()
    flood = Repeater(room, rubbish(generator), 0.0005)
    began_s = time.monotonic()
    joined(room, row, text)
    took_s = time.monotonic() - began_s
    flood.close()
    answers = [each for each in flood.heard if each[0] not in NOTHING]
    row.need(flood.sent > 200 and not answers, f"{flood.sent} datagrams, {len(answers)} answers")
    row.outcome = f"{flood.sent:,} datagrams, {len(flood.heard)} times Restart came back; joined in {took_s:.1f} s"


def rubbish(generator: random.Random) -> list[attacks.Flow]:
    """200 random datagrams, random handshakes and false hellos each, by turns, in frames from the drone's address."""
    thief, ground = (bytes.fromhex(air.MACS[address].replace(":", "")) for address in (STRANGER, GCS))
    flows, names = [], _names()
    for _ in range(200):
        source = (DRONE, generator.randrange(1024, 65536))
        for payload in (
            attacks.random_payload(generator),
            attacks.random_handshake(generator),
            attacks.false_hello(generator, **names),
        ):
            frame = attacks.spoofed(payload, source, (GCS, PORT), (thief, ground))
            flows.append(attacks.Flow(frame, len(frame) - len(payload), True))
    return flows


ROWS: dict[str, tuple[str, Callable[[Room, Row, random.Random], None]]] = {
    "bad-link": ("a drone joins over a link that loses 30 % of the frames, RTT 100 ms", bad_link),
    "overheard": ("the thief records a whole exchange, and is given the used line afterwards", overheard),
    "replayed": ("everything that the drone says is replayed at once, then again to the next invitation", replayed),
    "used": ("the thief joins by a line that was used, also while the next invitation waits", used),
    "late": ("the thief joins by a line whose time is over, its own clock set back by an hour", late),
    "guessed": ("the thief knows address, public key and names, and guesses secrets", guessed),
    "other-ground": ("the thief has the live line and plays the ground: the drone is led to its address", other_ground),
    "flooded": ("random datagrams and false hellos at the port while the drone joins", flooded),
}
