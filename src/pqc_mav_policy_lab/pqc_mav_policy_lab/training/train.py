# SPDX-License-Identifier: Apache-2.0
"""Trains the table: tabular Q-learning over choices of unequal length, reproducible from a seed byte for byte.

Q(s,a) += alpha (R + gamma^t max Q(s',.) - Q(s,a)), where R is what the t seconds of the step were worth (Q-learning on
a semi-Markov process: Bradtke and Duff 1995). Only safe choices are tried and only those count in the maximum. The
learning rate falls with the visits of a pair, exploration with the episodes.

Exploration is twofold: now and then any safe choice, and in every episode a mood, a bias for or against each choice
that lasts from take-off to landing. Without it training would never find out what half a minute of patience leads to.
"""

import random
from collections.abc import Callable
from dataclasses import asdict, dataclass

from pqc_mav_policy.strategies.rl.state import Choice, State
from pqc_mav_policy.strategies.rl.strategy import CHOOSE_EVERY_S
from pqc_mav_policy.strategies.rl.table import Table
from pqc_mav_policy_lab.training.episode import DISCOUNT_PER_S, Episode


@dataclass(frozen=True)
class Training:
    """How to train. `least_visits`: a pair seen less often is not trusted and left out of the table.

    `mood_*` is the standard deviation of an episode's biases, in units of the table's values.
    """

    seed: int = 1
    episodes: int = 3000
    exploration_first: float = 0.2
    exploration_last: float = 0.01
    mood_first: float = 10.0
    mood_last: float = 0.5
    rate_power: float = 0.7
    rate_least: float = 0.02
    least_visits: int = 10


@dataclass
class _Pair:
    value: float = 0.0
    visits: int = 0


def train(
    draw: Callable[[int], Episode], training: Training, told: Callable[[int, float], None] = lambda *_: None
) -> Table:
    """The table learned on missions that `draw` makes of seeds. `told` hears after every episode its number (from 1)
    and what it was worth."""
    rng = random.Random(training.seed)
    pairs: dict[State, dict[Choice, _Pair]] = {}
    for episode in range(training.episodes):
        share = episode / max(1, training.episodes - 1)
        exploration = _between(training.exploration_first, training.exploration_last, share)
        spread = _between(training.mood_first, training.mood_last, share)
        mood = {choice: rng.gauss(0.0, spread) for choice in Choice}
        mission = draw(rng.getrandbits(31))
        total, over = 0.0, False
        while not over:
            known = pairs.setdefault(mission.state, {})
            choice = _pick(known, _safe(mission), mood, exploration, rng)
            gain, seconds = mission.choose(choice)
            if not seconds:
                break
            over, following = mission.over, 0.0
            if not over:
                later = pairs.get(mission.state, {})
                following = max((later[c].value for c in _safe(mission) if c in later), default=0.0)
            pair = known.setdefault(choice, _Pair())
            pair.visits += 1
            rate = max(training.rate_least, pair.visits**-training.rate_power)
            pair.value += rate * (gain + DISCOUNT_PER_S**seconds * following - pair.value)
            total += gain
        told(episode + 1, total)
    return Table(_believed(pairs, training.least_visits), _account(training))


def _safe(mission: Episode) -> list[Choice]:
    return [choice for choice in Choice if choice in mission.safe]


def _between(first: float, last: float, share: float) -> float:
    return first + share * (last - first)


def _pick(
    known: dict[Choice, _Pair],
    safe: list[Choice],
    mood: dict[Choice, float],
    exploration: float,
    rng: random.Random,
) -> Choice:
    untried = [choice for choice in safe if choice not in known]
    if untried:
        return untried[0]
    if rng.random() < exploration:
        return safe[rng.randrange(len(safe))]
    return max(safe, key=lambda choice: (known[choice].value + mood[choice], -choice))


def _believed(pairs: dict[State, dict[Choice, _Pair]], least: int) -> dict[State, tuple[float | None, ...]]:
    found: dict[State, tuple[float | None, ...]] = {}
    for state, known in pairs.items():
        row = tuple(known[c].value if c in known and known[c].visits >= least else None for c in Choice)
        # Changing something is worth only what it gains over leaving things as they are. A row of HOLD alone says that
        # nothing else was safe there, or looked good enough to be tried again.
        if row[Choice.HOLD] is not None:
            found[state] = row
    return found


def _account(training: Training) -> dict[str, object]:
    return {
        "method": "tabular Q-learning over simulated missions",
        "discount_per_s": DISCOUNT_PER_S,
        "choose_every_s": CHOOSE_EVERY_S,
        **asdict(training),
    }
