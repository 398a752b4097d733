"""Those who are not registered: one answer a day, and what an answer to our own letter changes (RULINGS 41)."""
import pytest

from club import ADDRESS, Club


@pytest.fixture
def club(tmp_path):
    return Club(tmp_path)


def write(club, person, to, text):
    club.advance(minutes=3)
    club.deliver(person.write(to, "hello", text, club.now), sender=person.address)
    return club.take()[0], person.read_new()


def test_who_answers_our_letter_is_answered_on_the_same_day(club):
    """He asks for help, and registers by answering what came."""
    eve = club.player("Eve Stone", add=False)
    _, (helped,) = write(club, eve, ADDRESS, "help")
    club.advance(minutes=5)
    club.answer(eve, helped, "register Eve Stone")
    club.take()
    asked, = eve.read_new()
    club.advance(minutes=5)
    club.answer(eve, asked, "confirm")
    club.take()
    assert [player["name"] for player in club.json("player", "list")] == ["Eve Stone"]


def test_the_second_letter_of_a_day_to_the_plain_address_has_no_answer(club):
    eve = club.player("Eve Stone", add=False)
    assert len(write(club, eve, ADDRESS, "help")[1]) == 1
    assert write(club, eve, ADDRESS, "register Eve Stone")[1] == []
    club.advance(days=1, minutes=1)
    assert len(write(club, eve, ADDRESS, "register Eve Stone")[1]) == 1


def test_another_persons_letter_opens_nothing(club):
    """Mallory forwards the help letter's address to himself: it went to Eve."""
    eve, mallory = club.player("Eve Stone", add=False), club.player("Mallory Smith", add=False)
    _, (helped,) = write(club, eve, ADDRESS, "help")
    assert len(write(club, mallory, ADDRESS, "help")[1]) == 1
    assert write(club, mallory, helped.reply_to, "register Mallory Smith")[1] == []
