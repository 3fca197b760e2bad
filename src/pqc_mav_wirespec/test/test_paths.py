# SPDX-License-Identifier: Apache-2.0
from pqc_mav_wirespec import control
from pqc_mav_wirespec.paths import Paths

Y, X, Z = ("192.0.2.1", 1), ("192.0.2.2", 2), ("192.0.2.3", 3)


def paths(*answered):
    counter = iter(range(1, 100_000))
    return Paths(answered or (Y,), random_bytes=lambda count: next(counter).to_bytes(count, "big"))


def mavlink2(message_id, signed=False):
    """A message without payload, whose checksum and signature nobody reads here."""
    return bytes((0xFD, 0, int(signed), 0, 0, 1, 1, *message_id.to_bytes(3, "little"))) + bytes(15 if signed else 2)


def run(made, until, alive, now=0.0, packets=(), step=0.02):
    """Lets time pass. Challenges to an address in `alive` are answered at once; `packets` come all the time."""
    sent = []
    while now < until:
        for source in packets:
            made.on_packet(source, 69, now)
        for address, value in made.challenges(now):
            sent.append((now, address))
            if address in alive:
                made.on_response(value, now)
        now += step
    return sent


def test_one_address_costs_nothing_and_stays():
    made = paths()
    assert run(made, 100.0, set(), packets=[]) == []
    assert (made.living, made.deadline()) == ([Y], float("inf"))


def test_a_drone_that_moved_is_served_at_once_and_the_old_address_for_three_seconds():
    made = paths()
    run(made, 0.1, {X}, packets=[X])
    assert made.living == [Y, X]
    assert made.targets(1400) == [Y, X]
    run(made, 3.2, {X}, now=0.1, packets=[X])
    assert made.living == [X]
    assert run(made, 10.0, {X}, now=3.2, packets=[X]) == []


def test_two_that_answer_are_both_served():
    made = paths()
    sent = run(made, 20.0, {X, Y}, packets=[X, Y])
    assert made.living == [Y, X]
    assert 36 <= len(sent) <= 42


def test_who_answers_and_is_not_heard_is_left():
    made = paths(X, Y)
    run(made, 5.0, {X, Y}, packets=[Y])
    assert made.living == [Y]


def test_a_dead_address_is_challenged_six_times_and_forgotten():
    made = paths()
    made.on_packet(X, 1000, 0.0)
    sent = run(made, 3.0, {Y})
    assert [address for _, address in sent] == [X] * 6
    assert made.targets(100) == [Y]
    assert not made.wants_repeat(Y)


def test_copies_stay_within_three_times():
    made = paths()
    made.on_packet(X, 172, 0.0)
    assert len(made.challenges(0.0)) == 1
    assert made.targets(600 - 2 * 77 - 28 + 1) == [Y]
    assert made.targets(600 - 2 * 77 - 28) == [Y, X]
    assert made.targets(1) == [Y]


def test_four_live_and_a_fifth_waits():
    made, all_of_them = paths(), [Y]
    for port in range(10, 14):
        all_of_them.append(("192.0.2.9", port))
        begin = 2.0 * (port - 10)
        run(made, begin + 2.0, set(all_of_them), now=begin, packets=all_of_them)
    assert made.living == all_of_them[:4]
    run(made, 14.0, set(all_of_them), now=8.0, packets=all_of_them[1:])
    assert made.living == all_of_them[1:]


def several():
    """Of a drone with several paths; Y is known as one of path 0, X of path 1."""
    made = paths()
    made = Paths((Y,), random_bytes=made.random_bytes, several=True)
    for address, path in ((Y, 0), (X, 1)):
        made.on_packet(address, 1000, 2.0 + path)
        for to, value in made.challenges(2.0 + path):
            assert to == address
            made.on_response(value, 2.0 + path, path)
    return made


def test_the_drone_says_which_path_gets_everything_and_which_get_copies():
    made = several()
    assert (made.targets(10), made.copies()) == ([Y, X], [])
    made.on_told(control.Paths(1, 0, 0b10))
    assert (made.targets(10), made.copies(), made.current) == ([Y], [X], Y)
    made.on_told(control.Paths(2, 1, 0b01))
    made.on_told(control.Paths(1, 0, 0b10))
    assert (made.targets(10), made.copies(), made.current) == ([X], [Y], X)
    made.on_told(control.Paths(3, 2, 0b11))
    assert (made.targets(10), made.copies()) == ([Y], [X])


def test_a_main_path_for_commands_takes_nothing_else():
    made, command, value, signed = several(), mavlink2(76), mavlink2(30), mavlink2(77, signed=True)
    assert made.takes(value)
    made.on_told(control.Paths(1, 1, control.Paths.ONLY_COMMANDS))
    assert [made.takes(each) for each in (command, signed, value + command, value, mavlink2(70), b"other")] == [
        *(True, True, True, False, False, False)
    ]
    made.on_told(control.Paths(2, 0, 0b10))
    assert made.takes(value)


def test_addresses_are_judged_among_those_of_their_path():
    made = several()
    made.on_told(control.Paths(1, 0, 0b10))
    assert run(made, 20.0, set(), now=4.0) == []
    made.on_packet(Z, 1000, 20.0)
    for to, value in made.challenges(20.0):
        assert to == Z
        made.on_response(value, 20.0, 0)
    assert made.targets(10) == [Y, Z]
    sent = run(made, 25.0, {Z}, now=20.0, packets=[Z])
    assert X not in [address for _, address in sent]
    assert (made.targets(10), made.copies()) == ([Z], [X])


def test_an_address_of_the_handshake_without_a_number_goes_like_any_other():
    made = Paths((X, Y), random_bytes=paths().random_bytes, several=True)
    for address, value in made.challenges(0.0):
        if address == Y:
            made.on_response(value, 0.0, 0)
    run(made, 2.9, set(), packets=[Y])
    assert made.living == [X, Y]
    run(made, 5.0, set(), now=2.9, packets=[Y])
    assert made.living == [Y]


def test_an_address_of_the_handshake_has_its_three_seconds():
    made = Paths((X, Y), random_bytes=paths().random_bytes, began=100.0)
    run(made, 102.9, {X, Y}, now=100.0, packets=[Y])
    assert made.living == [X, Y]


def test_an_address_without_a_number_is_asked_for_it():
    made = Paths((Y,), random_bytes=paths().random_bytes, several=True)
    assert len(run(made, 3.5, set(), packets=[Y])) == 4
    for _, value in made.challenges(4.0):
        made.on_response(value, 4.0)
    assert made.deadline() < 6.0
    for _, value in made.challenges(5.0):
        made.on_response(value, 5.0, 3)
    run(made, 7.0, set(), now=5.0)
    assert made.deadline() == float("inf")
