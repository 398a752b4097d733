"""Whole games, played by people who have nothing but their letters."""
import itertools
import json

import pytest

import games
from club import ADDRESS, play
from letters import PROGRAMS, WAYS

STALEMATE = "7k/8/6K1/8/8/8/8/5Q2 w - - 0 1"  # 1. Qf7
DEAD = "8/8/8/8/8/3k4/1p6/K7 w - - 0 1"       # 1. Kxb2
WALLS = "4k3/8/8/p2p2p1/P2P2n1/5P2/8/4K3 w - - 0 1"  # 1. fxg4: pawns that nobody can pass or take


@pytest.fixture
def pair(club):
    return club.player("Ann East", program="gmail"), club.player("Bob West", program="iphone")


def check_end(club, number, result, *players):
    """The game is over, everybody was told, has the whole game as a file that a chess program reads, and the records hold."""
    row = club.json("game", "show", number)
    assert row["result"] == result, row
    club.run("verify")
    moves = None
    for player in players:
        letter = player.newest(number)
        assert f"is over, result {result}" in letter.flat
        file = club.folder / "game.pgn"
        file.write_text(letter.pgn)
        assert f'[Result "{result}"]' in letter.pgn
        assert "errors 0" in club.run("replay", file)
        view = player.view(letter)
        assert view.over and (moves is None or moves == view.score)
        moves = view.score
    assert club.json("status")["troubles"] == []
    return moves


def test_a_game_of_40_moves_in_every_spelling_and_mail_program(club, pair):
    ann, bob = pair
    number, *_ = club.new_game(ann, bob)
    programs, ways = itertools.cycle(PROGRAMS), itertools.cycle(WAYS)

    def way(ply):
        ann.program, bob.program = next(programs), next(programs)
        return next(ways)

    play(club, ann, bob, games.TOPALOV, way=way, remark=lambda ply: f"That was my move, number {ply // 2 + 1}." if ply % 3 == 0 else "")
    assert len(ann.sent) == 44 and len(bob.sent) == 43
    rows = club.json("letters")
    assert len(rows) == 87 and {row["outcome"] for row in rows} == {"played"} and {row["proof"] for row in rows} == {"token"}
    settled = club.settle(bob, bob.newest(), "resign\n\nThank you, a fine game!")
    assert settled.codes == ["resigned"] and len(settled.own) == 1 and len(settled.others) == 1
    assert check_end(club, number, "1-0", ann) == games.TOPALOV
    assert "Thank you, a fine game!" in ann.newest().text
    assert {row["filed"] for row in club.json("letters")} == {True} and club.inbox.waiting() == []


def test_castling_en_passant_and_promotions_by_letter(club, pair):
    ann, bob = pair
    club.new_game(ann, bob)
    ways = itertools.cycle(["numbered", "uci", "long", "tight"])
    play(club, ann, bob, games.SHOW, way=lambda ply: next(ways))
    assert {row["outcome"] for row in club.json("letters")} == {"played"}
    assert len(club.json("letters")) == len(games.SHOW)
    club.run("verify")


def test_a_game_from_nothing(club):
    """Two strangers register, confirm, challenge, accept and play to mate."""
    carla, dora = (club.player(name, add=False, program=program) for name, program in (("Carla Stone", "outlook"), ("Dora Moss", "thunderbird")))
    for player in (carla, dora):
        asked = club.settle_raw(player, player.write(ADDRESS, "hello", f"register {player.name}", club.now))
        assert asked.codes == ["registration-asked"] and not asked.others
        assert "confirm" in asked.text and player.name in asked.text
        assert club.json("player", "list")[1:] == [] or player is dora
        club.advance(hours=2)
        entered = club.settle(player, asked.own[0], "confirm")
        assert entered.codes == ["registered"] and len(entered.own) == 1 and not entered.others
    assert [row["name"] for row in club.json("player", "list")] == ["Carla Stone", "Dora Moss"]
    asked = club.settle(carla, carla.newest(), "challenge Dora Moss black 3d/move\n\nShall we play again?")
    assert asked.codes == ["challenged"] and len(asked.others) == 1
    invitation = dora.newest()
    for words in ("Carla Stone invites you", "3 days for each move", "You would have White", "| Shall we play again?"):
        assert words in invitation.flat or words in invitation.text
    assert "| Shall we play again?" in asked.text
    accepted = club.settle(dora, invitation, "accept\n\nWith pleasure.")
    assert accepted.codes == ["challenge-accepted"] and len(accepted.others) == 1 and len(accepted.own) == 1
    assert "| With pleasure." in carla.newest().text
    play(club, dora, carla, games.FOOL)
    assert check_end(club, 1, "0-1", carla, dora) == games.FOOL
    assert "You have won: Dora Moss is checkmated." in carla.newest().flat and "your king is checkmated" in dora.newest().flat


def test_a_challenge_is_declined_and_another_expires(club, pair):
    ann, bob = pair
    club.settle_raw(ann, ann.write(ADDRESS, "games", "help", club.now))
    settled = club.settle(ann, ann.newest(), "challenge Bob West\n\nHow about it?")
    assert settled.codes == ["challenged"]
    again = club.settle(ann, settled.own[0], "challenge bob@west.example")
    assert again.codes == ["challenge-open"] and not again.others
    no = club.settle(bob, bob.newest(), "decline\n\nNo time, sorry.")
    assert no.codes == ["challenge-declined"] and len(no.others) == 1
    assert "| No time, sorry." in ann.newest().text
    gone = club.settle(bob, bob.letters[0], "accept")
    assert gone.codes == ["challenge-gone"] and not gone.others
    assert club.settle(ann, ann.newest(), "challenge Bob West").codes == ["challenged"]
    invitation = bob.newest()
    club.advance(days=31)
    club.once()
    assert "Bob West" in ann.newest().text and "has begun" in ann.newest().text
    assert club.settle(bob, invitation, "accept").codes == ["challenge-gone"]
    assert club.json("game", "list") == []


@pytest.mark.parametrize("line, code", [("challenge Nobody Known", "unknown-player"), ("challenge Ann East", "challenge-self"), ("challenge", None)])
def test_challenges_that_cannot_be(club, pair, line, code):
    ann, bob = pair
    club.new_game(ann, bob)
    settled = club.settle(ann, ann.newest(), line)
    assert not settled.others and len(settled.own) == 1 and not settled.changed
    assert code is None or settled.codes == [code]
    assert settled.outcome in ("refused", "asked")


@pytest.mark.parametrize("text", ["e5 (=)", "e5\noffer draw", "1... e5 draw?"])
def test_a_draw_offered_with_the_move_and_accepted(club, pair, text):
    ann, bob = pair
    number, letter, _ = club.new_game(ann, bob)
    club.settle(ann, letter, "e4")
    offered = club.settle(bob, bob.newest(), text)
    assert offered.outcome == "played" and offered.codes[0] == "played" and len(offered.others) == 1 and len(offered.own) == 1
    assert "A draw is offered to you" in ann.newest().text
    agreed = club.settle(ann, ann.newest(), "accept")
    assert agreed.codes == ["draw-agreed"] and len(agreed.own) == 1 and len(agreed.others) == 1
    assert check_end(club, number, "1/2-1/2", bob) == ["e4", "e5"]


def test_an_offer_alone_declined_and_an_offer_ended_by_a_move(club, pair):
    ann, bob = pair
    number, letter, bobs = club.new_game(ann, bob)
    offered = club.settle(bob, bobs, "offer draw\n\nPeace?")  # not on move: FIDE 9.1 takes it
    assert offered.codes == ["draw-offered"] and len(offered.others) == 1
    assert "| Peace?" in ann.newest().text and "offers you a draw" in ann.newest().text
    assert club.settle(bob, offered.own[0], "offer draw").codes == ["offer-already"]
    declined = club.settle(ann, ann.newest(), "decline")
    assert declined.codes == ["draw-declined"] and len(declined.others) == 1
    assert "has declined your offer" in bob.newest().text
    late = club.settle(ann, ann.newest(), "accept")
    assert late.codes == ["no-offer"] and not late.changed and not late.others
    assert club.settle(ann, ann.newest(), "e4 (=)").outcome == "played"
    assert club.settle(ann, ann.newest(), "accept").codes == ["no-offer"]  # one's own offer
    assert club.settle(bob, bob.newest(), "e5").outcome == "played"        # a move refuses it
    assert club.settle(ann, ann.newest(), "accept").codes == ["no-offer"]
    assert club.json("game", "show", number)["result"] == "*"


def test_resignation_by_the_player_who_waits(club, pair):
    ann, bob = pair
    number, letter, bobs = club.new_game(ann, bob)
    settled = club.settle(bob, bobs, "Resign\n\nI have to travel.")
    assert settled.codes == ["resigned"] and len(settled.others) == 1
    assert "Bob West has resigned" in ann.newest().flat and "| I have to travel." in ann.newest().text
    check_end(club, number, "1-0", ann)


@pytest.mark.parametrize("fen, move, words", [(STALEMATE, "Qf7", "drawn by stalemate"), (DEAD, "Kxb2", "neither side can ever checkmate"),
                                              (WALLS, "fxg4 (=)", "neither side can ever checkmate the other (the rules call this a dead position)")])
def test_draws_by_the_board(club, pair, fen, move, words):
    ann, bob = pair
    number, letter, _ = club.new_game(ann, bob, "--fen", fen)
    assert club.settle(ann, letter, move).outcome == "played"
    assert words in " ".join(ann.newest().text.split()) and words in " ".join(bob.newest().text.split())
    assert club.json("game", "show", number)["result"] == "1/2-1/2"
    assert len(bob.newest().pgn) > 0
    assert "offer" not in ann.newest().text + bob.newest().text  # nothing is left to accept
    club.run("verify")


def test_a_remark_is_passed_on_and_quoted_to_its_writer(club, pair):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob)
    settled = club.settle(ann, letter, "e4\n\nGood morning, Bob!\nThe weather is fine — Grüße.\n\nAnn")
    assert settled.outcome == "played"
    for text in (bob.newest().text, settled.text):
        assert "| Good morning, Bob!\n| The weather is fine — Grüße.\n" in text
    quoted = club.settle(bob, bob.newest(), "e5", program="thunderbird")
    assert quoted.outcome == "played" and "Good morning" not in ann.newest().text


def test_a_signed_letter_and_one_with_a_greeting(club, pair):
    """RULINGS 9: names, greetings and closings are no near-misses."""
    ann, bob = pair
    club.new_game(ann, bob)
    for player, text in ((ann, "Nf3\nAnn"), (bob, "Dear Ann,\n\n1... Nf6\n\nYours, Bob"), (ann, "g3\n-- \nAnn East\nNe5 Street 4"), (bob, "Hi Ann\ng6\nBob West"),
                         (ann, "Bg2\nBest wishes, Ann"), (bob, "Bg7\nCiao!"), (ann, "0-0 !"), (bob, "_0-0_"), (ann, "My move: d3")):  # RULINGS 9, CONTRACT: after `move`
        settled = club.settle(player, player.newest(), text)
        assert settled.outcome == "played", (text, settled)


def test_questions_are_answered_and_change_nothing(club, pair):
    ann, bob = pair
    number, letter, bobs = club.new_game(ann, bob)
    for line, code in (("board", "board"), ("pgn", "pgn"), ("games", "games"), (f"game {number}", "board"), ("help", "help"), ("ping", "ping")):
        settled = club.settle(bob, bobs, line)
        assert settled.codes == [code] and settled.outcome == "done", line
        assert len(settled.own) == 1 and not settled.others and not settled.changed
        assert (settled.own[0].pgn != "") == (code == "pgn")
    assert "1 | " not in settled.text


def test_two_games_at_once_keep_apart(club, pair):
    ann, bob = pair
    first, letter_1, _ = club.new_game(ann, bob)
    second, _, letter_2 = club.new_game(bob, ann)
    ann.read_new()
    one = club.settle(ann, letter_1, "e4")
    assert one.row["game"] == first
    assert club.settle(bob, bob.newest(second), f"game {first}: e5").words == ["asked"]  # which position has he seen?
    two = club.settle(bob, bob.newest(second), f"game {first}: 1... e5\n\nto both")
    assert two.row["game"] == first and two.outcome == "played"
    three = club.settle(bob, bob.newest(second), "d4")
    assert three.row["game"] == second and three.outcome == "played"
    both = club.settle(ann, ann.newest(first), f"Nf3\ngame {second}: 1... d5")
    assert both.codes == ["played", "played"] and len(both.own) == 1 and len(both.others) == 2
    assert [json.loads(club.run("game", "show", n, "--json"))["ply"] for n in (first, second)] == [3, 2]


def test_a_move_entered_by_the_director_is_told_to_both(club, pair):
    ann, bob = pair
    number, *_ = club.new_game(ann, bob)
    club.run("game", "move", number, "e4")
    club.once()
    assert "1. e4" in ann.newest().text and "1. e4" in bob.newest().text
    club.run("verify")
