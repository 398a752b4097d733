"""Whole games by letters over real servers: each player writes from what lies in his own mailbox and nothing else."""
import re

import pytest

import games
from club import play
from letters import WAYS, score_of
from served import ServedClub

MOVES = games.TOPALOV  # 44 moves


@pytest.mark.parametrize("incoming, relay, after, programs", [("imaps", "smtps", "move:Processed", ("thunderbird", "gmail")),
                                                            ("pop3s", "sendmail", "delete", ("iphone", "outlook"))])
def test_a_game_of_more_than_forty_moves(tmp_path, dovecot, postfix, incoming, relay, after, programs):
    club = ServedClub(tmp_path / "club", dovecot, postfix, incoming=incoming, relay=relay, mailbox={"after": after})
    club.run("check", "--init")
    white = club.player("Garry Muster", program=programs[0])
    black = club.player("Veselin Muster", program=programs[1])
    game, _, _ = club.new_game(white, black)
    ways = [way for way in WAYS if way not in ("no_check", "figurine")]
    play(club, white, black, MOVES, way=lambda ply: ways[ply % len(ways)], remark=lambda ply: f"A word with move {ply}.")
    club.answer(black, black.newest(), "resign\n\nThank you for the game.")
    club.once()

    shown = club.json("game", "show", game)
    assert shown["moves"] == MOVES and shown["result"] == "1-0"
    pgn = club.run("game", "show", game, "--pgn")
    assert score_of(pgn) == MOVES and '[Result "1-0"]' in pgn and '[White "Garry Muster"]' in pgn
    for player in (white, black):
        player.read_new()
        assert len({letter.message_id for letter in player.letters}) == len(player.letters), "a letter came twice"
        assert score_of(player.letters[-1].text) == MOVES or score_of(player.letters[-1].pgn) == MOVES
    # one letter to each player for the start, a receipt and a notice for each move, the end
    letters = club.json("letters")
    assert len(letters) == len(MOVES) + 1 and {row["outcome"] for row in letters} <= {"played", "done"}
    assert len(white.letters) + len(black.letters) == 2 + 2 * len(MOVES) + 2
    for player in (white, black):  # those of the opponent in his moves, one's own in the receipts
        remarks = re.findall(r"\| A word with move (\d+)\.", "".join(letter.text for letter in player.letters))
        assert sorted(map(int, remarks)) == list(range(len(MOVES)))
    assert club.letters_there() == {} and len(club.letters_there("Processed")) == (len(letters) if after != "delete" else 0)
    assert club.json("outbox") == []
    club.run("verify")
