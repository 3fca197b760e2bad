# SPDX-License-Identifier: Apache-2.0
"""What a reader who is new to the subject has to know behind a figure, by the key of the chart or table.

Nothing here depends on a campaign: what a run says is in the explanation's observations, made from its numbers. The
published report explains each of its charts at such length ([rpi5-report], a page after each).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

BACKGROUND: Mapping[str, Sequence[str]] = {
    "keygen": (
        "A key encapsulation mechanism makes a fresh key pair for every handshake, so that a key which leaks later "
        "opens no earlier session (forward secrecy). How long that takes follows from the mathematics: ML-KEM "
        "expands a small seed into polynomials and multiplies them, which is work for the cache; HQC multiplies long "
        "sparse vectors; Classic McEliece looks for an invertible matrix of a megabyte and starts again when it "
        "finds none, so single key generations differ by a factor.",
        "The time is the ground's. The drone waits for it, but the old keys carry the data meanwhile: what a pilot "
        "notices is not this figure but whether the handshake ends before the keys have to be renewed again. With a "
        "pool of key pairs made ahead it leaves the handshake altogether; campaigns run with the pool off to see it.",
    ),
    "kem-operations": (
        "The three operations are spread over both ends: the ground makes the key pair and opens the ciphertext "
        "(decapsulation), the drone makes the secret and seals it (encapsulation). A drone with a weak processor "
        "therefore cares for the middle column, a ground station that serves a fleet for the other two.",
        "Sizes decide where links are slow. The public key goes up to the drone, the ciphertext down. Classic "
        "McEliece is the extreme: its ciphertext is the smallest of all and its public key the largest, so it suits "
        "links that are fast in one direction; over a telemetry radio its key alone takes minutes.",
    ),
    "signatures": (
        "The ground signs the handshake so that nobody else can answer in its place; the drone proves itself by its "
        "pre-shared key unless it is told to sign, too. Lattice signatures (ML-DSA, Falcon) need well under a "
        "millisecond. SPHINCS+ rests on hash functions alone, the most conservative assumption there is, and pays with "
        "hundreds of thousands of hashes for one signature: hence its own scale.",
        "Falcon signs with floating-point Gaussian sampling, which is delicate to make constant in time, and has the "
        "smallest signatures; ML-DSA is simpler and larger. For a drone the verification counts, which is quick for "
        "all, and the bytes of the signature, which are not alike at all.",
    ),
    "aead": (
        "Each packet is encrypted and authenticated in one step. AES-256-GCM is fast where the processor has "
        "instructions for it, as x86-64 and the Raspberry Pi 5 have; ChaCha20-Poly1305 needs none and is constant in "
        "time in plain software; Ascon was made for small devices and has little to set up for each packet, but takes "
        "longer per byte.",
        "Telemetry packets are small, so what is done once per packet (nonce, key schedule, tag) weighs more than "
        "what is done per byte. All three take microseconds, a telemetry link carries hundreds of packets a second: "
        "choose by implementation quality and side channels, not by speed.",
    ),
    "ranking": (
        "A handshake is the sum of key generation, encapsulation, decapsulation, signing, verification, the key "
        "schedule and the messages' way through sockets and threads. Suites that differ in the packet cipher alone "
        "make the same handshake; where their bars differ, that is the scatter of the measurement, and the line on "
        "each bar says how wide it is.",
        "A choice of suite is two choices that count here, that of the KEM and that of the signature, and the "
        "handshake takes the sum: look for the same KEM, by its colour, with different signatures before calling it "
        "slow.",
    ),
    "by-family": (
        "The median is the suite in the middle, which half of the suites beat; the mean is pulled up by a few slow "
        "ones, and the 95th percentile says how slow the slow end is. If mean and median are far apart, a group "
        "holds suites of two kinds, such as some that sign within a millisecond and some that take long.",
        "Grouping by level asks what security costs; grouping by KEM family asks what the algorithm costs. A group "
        "mixes signatures, so its median tells what a typical member does and never what your suite does: the ranking "
        "has that.",
    ),
    "level-boxes": (
        "NIST's levels compare an attack with breaking AES-128 (level 1), AES-192 (3) and AES-256 (5). Higher levels "
        "have larger parameters. A box holds the suites of every KEM and every signature of its level, so its height "
        "is what the choice among them decides, and the distance between boxes what the level does.",
        "The registry pairs KEMs and signatures of the same level only, and no Falcon is of level 3: where all its "
        "suites were run, that level has fewer than the others, and its box leans towards what is left.",
    ),
    "pareto": (
        "A suite is Pareto-optimal when no other is at least as good in both respects and better in one: nobody "
        "should choose a suite off the frontier for these two reasons alone. There may be a third, such as not "
        "wanting to rest everything on lattices.",
        "With intervals a frontier is not a line but a band: suites that cannot be told apart are all on it. When the "
        "band holds every level at nearly the same time, the frontier's message is that security is free, and the "
        "highest level should be taken.",
    ),
    "phi": (
        "Phi(R) is the share of time spent in handshakes when keys are renewed every R seconds: T / (R + T). The "
        "published system stops its proxies for each renewal, so there Phi is time without a link. This tunnel renews "
        "under traffic, so here it is only the share in which some processor is busy with keys.",
        "Short intervals limit what a stolen key opens, long ones what renewals cost. If the curve of a suite lies "
        "below a tenth of a per cent at your interval, renewing is free; if it does not, the interval has to grow, "
        "and with it the damage of a leak.",
    ),
    "family-scenario": (
        "A detector of attacks beside the tunnel takes processor time, and handshakes are what feels it first: they "
        "are the longest pieces of computation the tunnel has. The heavier the detector and the fewer the cores, the "
        "more often a handshake waits for its turn.",
        "The milliseconds that a scenario adds may grow with the handshake; the per cent need not. Judge "
        "the milliseconds: a doubled millisecond is nothing, ten per cent of a second may be a missed deadline.",
    ),
    "load-heat": (
        "Average load says what the flight costs, peak load whether something else had to wait. Both are of the whole "
        "machine; the proxy alone is in the tables of the runs. All suites move packets in the same way, so that a "
        "family can differ from another through its handshakes alone.",
        "Each panel has its own scale, which is never stretched over differences of a few per cent: where all cells "
        "look alike, they are alike.",
    ),
    "overhead": (
        "Overhead is the difference of two medians: with the detector and without, over the same suites. It holds two "
        "effects that cannot be told apart from outside, waiting for a core and caches that somebody else has filled.",
        "The left panel says what a deadline feels, the right one what a comparison of algorithms feels. A family with "
        "short handshakes can show large percentages of very little.",
    ),
    "energy-budget": (
        "The budget multiplies the mean power of the companion computer with the time of its handshakes. It is an "
        "upper bound: a computer that is not shaking hands draws nearly the same power. Motors take a hundred times "
        "more, so the choice of suite does not decide how long a drone flies.",
        "It decides something else: a handshake that runs for seconds heats a passively cooled board and delays "
        "everything beside it. That is the reason for the policy's lighter suites under stress, not the battery.",
    ),
    "paper-architecture": (
        "Autopilot and ground station are unchanged and know nothing of the tunnel: each talks MAVLink to a port of "
        "its own machine. The two proxies between them carry every datagram, unread, sealed with keys that they "
        "renew while packets flow. Sensing, policy and detector may all fail without a packet being lost; the engine "
        "goes on with the suite it has.",
    ),
    "paper-handshake": (
        "The four messages fit the three-times rule: nothing that comes from a stranger makes the ground send more "
        "than three times as much, or compute anything expensive, before a MAC under the pre-shared key was checked. "
        "The ground's signature and the drone's key confirmation bind both identities, both nonces, the suite and "
        "all messages, so that a changed byte or a weaker suite slipped in by somebody in the middle ends the "
        "handshake.",
    ),
    "paper-wire": (
        "Everything before the ciphertext is authenticated as associated data: nobody can move a packet to another "
        "session, epoch or suite. The sequence number is the nonce's variable part and feeds the replay window; it "
        "is never used twice under one key, and a key is renewed long before it could run out. With compact headers "
        "most of the fields are left out, since both ends know them.",
    ),
    "kem-keygen-ms-distribution": (
        "A box plot shows scatter, which medians hide. A narrow box says that an operation takes the same time each "
        "time; a long upper whisker, that it sometimes waits for a core or, with Classic McEliece, that it had to "
        "start again. Scatter is what a deadline has to be planned for.",
    ),
    "sig-sign-ms-distribution": (
        "ML-DSA signs by rejection: it tries until a signature leaks nothing of the key, a handful of times on "
        "average, so its times come in steps. Falcon's and SPHINCS+'s work is nearly constant. Differences between "
        "the parameter sets of SPHINCS+ follow the height of its trees, not the level alone.",
    ),
    "clusters": (
        "The published figure shows three clusters and concludes that the KEM family decides. Sorting by family is "
        "what makes clusters: look inside each for steps, which are those of the signature. A family whose cheapest "
        "member is at a few milliseconds and whose dearest is at hundreds would be no single cluster.",
    ),
    "trends": (
        "The document draws five trends from its campaign of October 2025: throughput stays at the load that is "
        "offered whatever the suite; power follows the scenario, not the suite; processor and memory grow with the "
        "detector; round trips do not depend on the handshake; and losses come from saturation, not from "
        "cryptography.",
        "Each is a statement about means over suites in one scenario against another. Where a campaign ran one "
        "scenario only, it can neither confirm nor refute the trends between scenarios: the row says what it has, "
        "and the published rows stand beside it.",
    ),
}
