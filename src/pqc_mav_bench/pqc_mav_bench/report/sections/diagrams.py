# SPDX-License-Identifier: Apache-2.0
"""The drawings of the papers: concept, architecture, handshake, wire format, pipeline, bench."""

from __future__ import annotations

from pqc_mav_bench.analysis import framing
from pqc_mav_bench.report.blocks import Diagram, Explanation
from pqc_mav_bench.report.charts.diagram import Sheet


def _done(s: Sheet, title: str, description: str, explanation: Explanation | None = None) -> Diagram:
    return Diagram(s.key, title, s.svg(title, description), explanation)


def concept(key: str = "concept") -> Diagram:
    """Who is involved and what threatens them."""
    s = Sheet(key, 760, 250)
    s.box(20, 90, 150, 60, ["Autopilot", "MAVLink, unchanged"], "green")
    s.box(215, 90, 150, 60, ["Drone proxy", "post-quantum tunnel"])
    s.box(420, 90, 150, 60, ["Ground proxy", "post-quantum tunnel"])
    s.box(615, 90, 125, 60, ["Ground station", "unchanged"], "green")
    s.arrow(170, 120, 215, 120, both=True)
    s.arrow(365, 120, 420, 120, both=True)
    s.arrow(570, 120, 615, 120, both=True)
    s.box(215, 190, 150, 46, ["Policy", "battery, heat, link"], "orange")
    s.arrow(290, 190, 290, 150, both=True)
    s.box(30, 190, 130, 46, ["Detector", "attack or not"], "orange")
    s.arrow(160, 213, 215, 213)
    s.box(310, 12, 165, 46, ["Attacker", "listens, floods, replays"], "vermillion")
    s.arrow(392, 58, 392, 112, dashed=True)
    return _done(
        s,
        "Concept: a tunnel between two unchanged programs",
        "Autopilot, drone proxy, ground proxy and ground station in a row; policy and detector below; an "
        "attacker above the link.",
    )


def architecture(key: str = "architecture") -> Diagram:
    """The system's parts and paths."""
    s = Sheet(key, 760, 330)
    s.frame(5, 10, 330, 310, "Drone")
    s.frame(425, 10, 330, 310, "Ground")
    s.box(15, 40, 140, 50, ["Autopilot", "serial or UDP"], "green")
    s.box(185, 40, 140, 50, ["Drone proxy", "tunnel engine"])
    s.arrow(155, 65, 185, 65, both=True)
    s.box(435, 40, 140, 50, ["Ground proxy", "tunnel engine"])
    s.box(605, 40, 140, 50, ["Ground station", "QGroundControl, ..."], "green")
    s.arrow(575, 65, 605, 65, both=True)
    s.arrow(325, 54, 435, 54, "UDP data", both=True)
    s.arrow(325, 84, 435, 84, "UDP handshake", both=True, dashed=True)
    s.box(15, 150, 140, 50, ["Sensing", "battery, heat, power"], "orange")
    s.box(185, 150, 140, 50, ["Policy", "which suite, when"], "orange")
    s.arrow(155, 175, 185, 175)
    s.arrow(255, 150, 255, 90)
    s.text(263, 124, "rekey", size=11)
    s.box(15, 250, 140, 50, ["Detector", "threat reports"], "orange")
    s.arrow(140, 250, 205, 200)
    s.box(185, 250, 140, 50, ["Bench controller", "campaign, metrics"], "purple")
    s.box(435, 250, 140, 50, ["Bench agent", "ground metrics"], "purple")
    s.arrow(325, 275, 435, 275, "ROS 2", both=True)
    explanation = Explanation(
        "The tunnel engine carries packets without ROS or Python; sensing and policy decide over ROS 2 topics; "
        "the benchmark coordinates both ends over ROS 2 services.",
        "Solid: data and decisions; dashed: handshakes, through the same port.",
        [],
        [
            "A failing handshake never cuts the benchmark's own coordination, because that does not run through "
            "the tunnel."
        ],
    )
    return _done(
        s,
        "Architecture: packets, decisions and measurement on separate paths",
        "Drone and ground station with their proxies, sensing, policy, detector, controller and agent.",
        explanation,
    )


_MESSAGES = (
    (0, "M1 ClientHello: drone id, nonce, suite, gate (HMAC under the PSK)"),
    (1, "M2 ServerHello: session id, nonce, KEM public key, X25519 key, signature"),
    (0, "M3 ClientFinish: KEM ciphertext, X25519 key, confirmation"),
    (1, "M4 ServerFinish: confirmation"),
)


def handshake(key: str = "handshake") -> Diagram:
    """The four messages."""
    s = Sheet(key, 760, 400)
    s.box(30, 10, 130, 34, ["Drone"])
    s.box(600, 10, 130, 34, ["Ground"])
    s.line(95, 44, 95, 390)
    s.line(665, 44, 665, 390)
    y = 80
    notes = {
        0: ("ground", "check gate; generate keys, sign"),
        1: ("drone", "verify; encapsulate"),
        2: ("ground", "decapsulate; check"),
        3: ("drone", "new keys in use"),
    }
    for i, (back, label) in enumerate(_MESSAGES):
        s.arrow(*((665, y, 95, y) if back else (95, y, 665, y)), label)
        if i in notes:
            side, note = notes[i]
            s.text(
                105 if side == "drone" else 655, y + 22, note, "start" if side == "drone" else "end", 11, colour="muted"
            )
        y += 60
    s.arrow(95, y + 6, 665, y + 6, "encrypted packets, both ways", both=True)
    explanation = Explanation(
        "The order of the messages. The ground does nothing expensive until the gate has proved that the drone knows "
        "its key.",
        "Time runs downward.",
        [],
        [
            "The published protocol has two messages and signs inside the first; the gate was added so that "
            "a stranger causes only one or two MACs of work."
        ],
    )
    return _done(
        s,
        "Handshake: four messages over UDP, repeated under traffic for every rekey",
        "Sequence diagram of client hello, server hello, client finish and server finish.",
        explanation,
    )


_FIELDS = (
    ("version", 1),
    ("KEM id", 1),
    ("KEM param", 1),
    ("SIG id", 1),
    ("SIG param", 1),
    ("session id", 8),
    ("sequence", 8),
    ("epoch", 1),
)


def wire_format(key: str = "wire") -> Diagram:
    """The encrypted datagram."""
    s = Sheet(key, 760, 215)
    x, scale = 10.0, 740 / 46
    for name, size in (("header", framing.HEADER_BYTES), ("ciphertext", 14), ("AEAD tag", 10)):
        width = size * scale
        bytes_of = {"header": f"{framing.HEADER_BYTES} B", "AEAD tag": f"{framing.TAG_BYTES} B"}.get(
            name, "as long as the packet"
        )
        s.box(x, 20, width - 4, 46, [name, bytes_of], {"header": "orange", "AEAD tag": "purple"}.get(name, "blue"))
        x += width
    x, wide = 10.0, 740 / (8 * 3.0 + 2 * 5.0 + 4)
    for i, (name, size) in enumerate(_FIELDS):
        width = 4.75 * wide
        s.box(x, 110, width - 4, 46, [name, f"{size} B"], "orange")
        x += width
        if i == 0:
            s.line(12, 66, 12, 110)
    s.line(10 + framing.HEADER_BYTES * scale - 6, 66, x - 4, 110)
    s.text(
        10,
        182,
        f"Overhead {framing.overhead_bytes()} B per packet. The whole header is authenticated as associated data.",
    )
    s.text(10, 202, "The nonce is epoch and sequence number (12 B, 16 B for Ascon); it is never sent.")
    return _done(
        s,
        "Wire format of an encrypted packet",
        f"Header of {framing.HEADER_BYTES} bytes, ciphertext, tag of {framing.TAG_BYTES} bytes, and the "
        f"header's fields.",
    )


def pipeline(key: str = "pipeline") -> Diagram:
    """What happens to a packet in the proxy."""
    s = Sheet(key, 760, 230)
    out = (
        ("UDP in", "local application"),
        ("session?", "none: drop, count"),
        ("number, header", "epoch, sequence"),
        ("AEAD seal", "header as AAD"),
        ("UDP out", "batched"),
    )
    back = (
        ("UDP in", "from the peer"),
        ("length, session", "bad or unknown"),
        ("replay window", "old, replayed"),
        ("AEAD open", "forged"),
        ("deliver", "then move window"),
    )
    for row, (name, steps) in enumerate((("Sending", out), ("Receiving", back))):
        y = 40 + 105 * row
        s.text(10, y - 12, name, bold=True)
        for i, (head, note) in enumerate(steps):
            x = 10 + i * 150
            s.box(x, y, 128, 52, [head, note], "blue" if head.startswith("AEAD") else "green")
            if i:
                s.arrow(x - 22, y + 26, x, y + 26)
    s.text(
        10,
        222,
        "Every received packet ends in exactly one counter: delivered, control, or one of six drops.",
        size=11,
        colour="muted",
    )
    return _done(s, "Packet pipeline of the proxy", "Two rows of steps: sending and receiving a packet.")


def bench(key: str, same_host: bool) -> Diagram:
    """Where the benchmark measures."""
    s = Sheet(key, 760, 260)
    where = "both on one machine, over its loopback interface" if same_host else "on two machines, over their network"
    s.box(20, 60, 135, 50, ["Traffic source", "simulated vehicle"], "green")
    s.box(205, 60, 135, 50, ["Drone proxy", "under test"])
    s.box(420, 60, 135, 50, ["Ground proxy", "under test"])
    s.box(605, 60, 135, 50, ["Traffic sink", "ground station"], "green")
    s.arrow(155, 85, 205, 85, both=True)
    s.arrow(340, 85, 420, 85, both=True)
    s.arrow(555, 85, 605, 85, both=True)
    s.box(205, 185, 135, 50, ["Controller", "drone side, master"], "purple")
    s.box(420, 185, 135, 50, ["Agent", "ground side"], "purple")
    s.arrow(340, 210, 420, 210, both=True)
    s.text(380, 235, "services", "middle", 11)
    for x, label, down in (
        (87, "sent, types, gaps", 60),
        (272, "handshake, CPU, power", 60),
        (487, "handshake, drops", 60),
        (672, "received, RTT", 60),
    ):
        s.text(x, 42, label, "middle", 11, colour="muted")
        s.line(x, 47, x, down)
    s.arrow(272, 185, 272, 110, dashed=True)
    s.arrow(487, 185, 487, 110, dashed=True)
    s.text(20, 16, f"Measurement points (above each part); {where}.", size=12)
    return _done(
        s,
        "Bench topology and measurement points",
        f"Traffic source, two proxies and traffic sink with controller and agent; {where}.",
    )
