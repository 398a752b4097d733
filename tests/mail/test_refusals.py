"""Letters in which something is wrong: nothing changes, the sender alone gets one answer, and it says what and why."""
import pytest

KNIGHTS = "4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 20"           # Nd2: two knights
EVERYTHING = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"  # Kiwipete
PINNED = "4k3/8/8/8/1b6/8/3N4/R3K2R w KQ - 0 30"         # Nd2 is pinned
CHECK = "4k3/8/8/8/8/8/4r3/R3K2R w KQ - 0 30"            # White is in check
PROMOTE = "7k/P7/8/8/8/8/8/K7 w - - 0 50"
BISHOP_OR_PAWN = "4k3/8/8/8/8/2p5/1P6/4BK2 w - - 0 40"   # bxc3 and Bxc3 both go
CASTLE_ATTACKED = "3rk3/8/8/8/8/8/8/R3K2R w KQ - 0 12"   # 0-0-0 crosses d1


@pytest.fixture
def pair(club):
    return club.player("Ann East"), club.player("Bob West")


def refused(settled, code=None, *phrases):
    """Exactly one answer, to the sender; no record has changed; it says these words."""
    assert not settled.changed, settled
    assert len(settled.own) == 1 and not settled.others, settled
    assert settled.outcome in ("refused", "asked", "ignored"), settled
    assert not set(settled.words) & {"played", "done"}, settled
    if code:
        assert settled.codes[0] == code, settled
    for phrase in phrases:
        assert phrase in settled.flat, settled.text
    return settled


def settle_all(club, player, letter, cases):
    """Cases of (text, code, phrases…), all answers to one letter, in one cycle."""
    found = club.settle_all([(player, player.answer(letter, case[0], club.now)) for case in cases])
    for case, settled in zip(cases, found):
        refused(settled, *case[1:])
    return found


@pytest.mark.parametrize("fen, cases", [
    (None, [
        ("e5", "illegal", 'You wrote "e5"', "a move of the other side"),
        ("e2e5", "illegal", "the pawn on e2 cannot go to e5"),
        ("Bc4", "illegal", "on the way of the bishop from f1 to c4 stands the pawn on e2"),
        ("Ra3", "illegal"),
        ("O-O", "illegal", "the bishop on f1 stands in the way"),
        ("exd3", "illegal", "nothing to capture on d3"),
        ("Nd2", "illegal"),
        ("Nxe4", "illegal"),
        ("e7e5", "illegal", "a move of the other side"),
        ("e4e5", "illegal", "the square e4 is empty"),
        ("P-K4", None),
        ("Nf9", None, 'You wrote "Nf9"', "squares run from a1 to h8"),
        ("Nf9\nKe2", "several-moves", '"Nf9"', '"Ke2"'),
        ("e4\nd4", "several-moves", '"e4"', '"d4"'),
        ("Dear friends,\n\ne4\n\nor perhaps\n\nd4", "several-moves"),
        ("resing", "near-miss", "resign"),
        ("acept", "near-miss", "accept"),
        ("e4\nresign", "move-beside"),
        ("e4\naccept", "move-beside"),
        ("accept", "no-offer"),
        ("decline", "no-offer"),
        ("I had a hard week, and I think that this time I should not\nresign.\nSee you, Ann", "below-remark", "resign"),
        ("Hello Bob,\n\nresign\n", "below-remark"),
        ("2. e4", "wrong-number", "move number 1"),
        ("11. e4", "wrong-number", "move number 1"),
        ("game 77: e4", "no-such-game", "77"),
        ("1. e4 e5 2. Nf3", "block-differs", "Black's move number 1", "has not come so far"),
        ("challenge", "near-miss", "Something is missing"),
        ("claim repetition", "later", "It is your move"),
        ("if e5 then Nf3", "later"),
        ("leave 2032-01-01 to 2032-01-10", "later"),
        ("What do you think of this?", "nothing"),
        ("", "empty"),
        ("confirm", "confirm-nothing"),
        ("yes", "yes-nothing"),
        ("register Ann East", "already-registered"),
        ("challenge Bob West next tuesday", None),
    ]),
    (KNIGHTS, [("Nd2", "ambiguous", "Nb1-d2", "Nf3-d2"), ("Ke2\nKd1", "several-moves"), ("Ke3", "illegal")]),
    (EVERYTHING, [("Qxh8", "illegal"), ("Nxb4", "illegal"), ("d5d6 e5d7", None), ("Kd2", "illegal", "your own bishop stands on d2"),
                  ("dxc6", "illegal", "nothing to capture on c6"), ("O-O-O-O", None)]),
    (PINNED, [("Nf3", "illegal", "your king would be in check by the bishop on b4")]),
    (CHECK, [("Ra2", "illegal"), ("O-O", "illegal", "a king in check may not castle")]),
    (PROMOTE, [("a8", "illegal", "which one", "a8=Q"), ("a8=K", "illegal")]),
    (CASTLE_ATTACKED, [("O-O-O", "illegal", "your king would cross d1")]),
    (BISHOP_OR_PAWN, [("Bxc3", "ambiguous", "both a bishop and the pawn"), ("Ke3", "illegal")]),
])
def test_refused(club, pair, fen, cases):
    ann, bob = pair
    number, letter, _ = club.new_game(ann, bob, *(("--fen", fen) if fen else ()))
    settle_all(club, ann, letter, cases)
    club.run("verify")


def test_the_reading_of_an_ambiguous_move_is_named_so_that_it_can_be_sent(club, pair):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob, "--fen", KNIGHTS)
    asked = refused(club.settle(ann, letter, "Nd2"), "ambiguous", "Nbd2", "Nfd2")
    assert club.settle(ann, asked.own[0], "Nfd2").outcome == "played"


def test_not_his_turn_and_game_over(club, pair):
    ann, bob = pair
    number, letter, bobs = club.new_game(ann, bob)
    settle_all(club, bob, bobs, [("e5", "not-your-turn", "Ann East is to move"), ("1... e5", "not-your-turn"), ("2. Nf6", "not-your-turn")])
    assert club.settle(ann, letter, "e4").outcome == "played"
    newest = ann.newest()
    settle_all(club, ann, newest, [("d4", None), ("2. d4", "not-your-turn", "Bob West is to move")])
    club.settle(bob, bob.newest(), "resign")
    found = settle_all(club, bob, bob.newest(), [("e5", "game-over", "the game is over"), ("resign", "game-over"), ("offer draw", "game-over")])
    assert "result 1-0" in found[0].flat


def test_whose_game(club, pair):
    ann, bob = pair
    carl = club.player("Carl North")
    club.new_game(ann, bob)
    other, *_ = club.new_game(bob, carl)
    club.new_game(ann, carl)
    settle_all(club, ann, ann.letters[0], [(f"game {other}: e4", "not-your-game"), (f"game {other}: resign", "not-your-game"), (f"game {other}", "not-your-game"),
                                           ("game 99", "no-such-game"), ("game 99: resign", "no-such-game")])
    raw = ann.write("chess@club.example", "chess", "1. e4", club.now)  # no token: neither proof nor a game
    refused(club.settle_raw(ann, raw), "which-game", "Number 1, with Bob West", "Number 3, with Carl North")


def test_blocks_of_a_score(club, pair):
    ann, bob = pair
    number, letter, _ = club.new_game(ann, bob)
    for player, move in zip((ann, bob) * 2, "e4 e5 Nf3 Nc6".split()):
        assert club.settle(player, player.newest(), move).outcome == "played"
    newest = ann.newest()
    settle_all(club, ann, newest, [
        ("1. e4 e5 2. Nf3 Nf6 3. Bb5", "block-differs", "move number 2", "Nf6", "Nc6"),
        ("1. d4 e5 2. Nf3 Nc6 3. Bb5", "block-differs", "d4", "e4"),
        ("2. Nf3 Nc6", "block-repeats"),
        ("2... Nc6", "block-repeats"),
        ("Nc6", "block-repeats"),
        ("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4", "block-differs"),
        ("2...Nc6 3.Ke3", "illegal"),
    ])
    assert club.settle(ann, newest, "2…Nc6 3.Bb5").outcome == "played"  # the first item is the move just received
    assert club.settle(bob, bob.newest(), "1. e4 e5 2. Nf3 Nc6\n3. Bb5 a6").outcome == "played"
    assert club.settle(ann, ann.newest(), "a6 4. Ba4").outcome == "played"
    assert club.json("game", "show", number)["moves"] == "e4 e5 Nf3 Nc6 Bb5 a6 Ba4".split()


def test_a_lone_command_below_the_remark(club, pair):
    ann, bob = pair
    number, letter, _ = club.new_game(ann, bob)
    settle_all(club, ann, letter, [("e4\n\nNice to play you.\n\nresign\n", "below-remark", "resign"),
                                   ("e4\n\nNice to play you.\n\nd4\n", None)])
    partly = club.settle(ann, letter, "e4\n\nNice to play you.\n\nboard\n")  # the move counts, the other line is asked about
    assert partly.words == ["played", "asked"] and partly.codes == ["played", "below-remark"] and len(partly.own) == 1
    assert club.json("game", "show", number)["moves"] == ["e4"]


def test_a_refused_letter_passes_no_words_on(club, pair):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob)
    refused(club.settle(ann, letter, "Ke2\n\nsecret words"), "illegal")
    assert club.settle(ann, ann.newest(), "e4").outcome == "played"
    assert "secret words" not in bob.newest().text
