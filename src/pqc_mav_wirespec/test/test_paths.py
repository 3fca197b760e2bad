# SPDX-License-Identifier: Apache-2.0
from pqc_mav_wirespec.paths import Paths

Y, X, Z = ("192.0.2.1", 1), ("192.0.2.2", 2), ("192.0.2.3", 3)


def paths():
    counter = iter(range(1, 10_000))
    return Paths(Y, True, random_bytes=lambda count: next(counter).to_bytes(count, "big"))


def run(made, until, alive, now=0.0, packets=(), step=0.02):
    """Lets time pass. Challenges to a living address are answered at once; `packets` come all the time."""
    sent = []
    while now < until:
        for source in packets:
            made.on_packet(source, 69, True, now)
        for address, value in made.challenges(now):
            sent.append((now, address))
            if address in alive:
                made.on_response(value, now)
        now += step
    return sent


def test_a_path_that_moved_is_taken_when_the_old_one_is_dead():
    made = paths()
    sent = run(made, 2.0, {X}, packets=[X])
    assert (made.current, made.validated, made.seniors) == (X, True, [Y, X])
    assert len([at for at, _ in sent]) <= 12


def test_the_senior_stays_while_both_live():
    made = paths()
    run(made, 5.0, {X, Y}, packets=[X])
    assert made.current == Y
    assert made.ignored[X] > 5.0


def test_a_dead_address_is_ignored():
    made = paths()
    made.on_packet(X, 69, True, 0.0)
    sent = run(made, 3.0, {Y}, now=0.0)
    assert made.current == Y
    assert X in made.ignored
    assert sum(address == X for _, address in sent) == 6
    assert made.targets(100) == [Y]


def test_copies_stay_within_three_times():
    made = paths()
    made.on_packet(X, 69, True, 0.0)
    assert made.targets(69) == [Y, X]
    assert made.targets(69) == [Y, X]
    assert made.targets(69) == [Y, X]
    assert made.targets(69) == [Y]
    made.on_packet(X, 69, False, 0.1)
    assert made.targets(69) == [Y, X]


def test_only_packets_with_a_new_highest_sequence_begin_a_validation():
    made = paths()
    made.on_packet(X, 69, False, 0.0)
    assert made.challenges(0.0) == []
    made.on_packet(X, 69, True, 0.0)
    made.on_packet(Z, 69, True, 0.0)
    assert {address for address, _ in made.challenges(0.0)} == {X, Y}


def test_an_ignored_address_is_taken_when_the_path_dies():
    made = paths()
    run(made, 1.0, {X, Y}, packets=[X])
    assert made.ignored[X] > 1.0
    run(made, 8.0, {X}, now=1.0, packets=[X])
    assert made.current == X


def test_a_first_path_that_is_not_validated_is_challenged_alone_and_limited():
    made = paths()
    made.validated, made.current, made.seniors = False, None, []
    made.on_packet(Y, 69, True, 0.0)
    assert made.targets(200) == [Y]
    assert made.targets(200) == []
    run(made, 1.0, {Y})
    assert made.validated
    assert made.targets(1200) == [Y]


def test_a_wrongly_left_senior_returns():
    made = paths()
    run(made, 2.0, {X}, packets=[X])
    assert made.current == X
    run(made, 4.0, {X, Y}, now=2.0, packets=[Y])
    assert made.current == Y
    assert X in made.ignored
