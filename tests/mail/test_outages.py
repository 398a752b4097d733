"""serve in real time while the servers behind it go down and come up again: the backlog is cleared, nothing is doubled, each outage is one."""
import collections
import time

import pytest

import games
from served import ServedClub
from servers import ROOT, Certificates, Dovecot, Postfix, public_folder, wait_for
from serving import Serve

DOWN = 20       # seconds of each outage
RECOVERY = 150  # within which all is well again: the next attempt is due half a minute after the first failure, the one after that a minute later


@pytest.fixture
def servers():
    """Of its own: others must not find theirs stopped."""
    if not ROOT:
        pytest.skip("Postfix can only be started by root")
    with public_folder() as folder, Dovecot(folder / "dovecot", Certificates(folder / "certificates")) as dovecot:
        with Postfix(folder / "postfix", dovecot) as postfix:
            yield dovecot, postfix


class Game:
    """Two players who answer as soon as their mailbox shows them a new move; they know nothing but their letters."""

    def __init__(self, club, number):
        self.club = club
        self.white, self.black = club.player(f"Ann Muster{number}"), club.player(f"Bob Muster{number}")
        self.number = int(club.run("game", "new", self.white.name, self.black.name).split()[1])
        self.made = 0
        self.score = games.TOPALOV

    def go_on(self):
        """One look into both mailboxes. True if a move was sent."""
        player = (self.white, self.black)[self.made % 2]
        views = [(letter, player.view(letter)) for letter in player.letters + player.read_new()]
        for letter, view in reversed(views):
            if view and view.my_turn and len(view.score) == self.made:
                self.club.postfix.inject(player.address, letter.reply_to, player.answer(letter, self.score[self.made], self.club.now))
                self.made += 1
                return True
        return False

    def seen(self):
        """Plies that the player to move has seen."""
        player = (self.white, self.black)[self.made % 2]
        return max((len(view.score) for view in map(player.view, player.letters + player.read_new()) if view), default=-1)


def play_for(all_games, seconds=0, plies=0, limit=RECOVERY):
    """For some seconds, or until each game has gone some plies further."""
    begin, goal = time.monotonic(), [game.made + plies for game in all_games]
    while time.monotonic() < begin + (seconds or limit):
        moved = [game.go_on() for game in all_games]
        if not seconds and all(game.made >= there for game, there in zip(all_games, goal)):
            return
        if not any(moved):
            time.sleep(0.2)
    assert seconds, f"the games stand at {[game.made for game in all_games]} plies and should be at {goal}"


def settled(club, all_games):
    """So that a server that is stopped now is not in the middle of something."""
    wait_for(lambda: all(game.seen() == game.made for game in all_games), "everybody knows the last move", seconds=RECOVERY)
    wait_for(lambda: club.json("outbox") == [], "nothing waits to be sent")
    club.postfix.drained()


def test_servers_that_go_down_and_come_up(servers, tmp_path):
    dovecot, postfix = servers
    club = ServedClub(tmp_path / "club", dovecot, postfix, relay="smtps", mailbox={"after": "move:Processed"})
    arbiter = club.player("The Arbiter", f"td{club.number}@club.example", add=False)
    club.settings["arbiter"] = arbiter.address
    club.write_configuration()
    all_games = [Game(club, number) for number in range(2)]
    with Serve(club) as serve:
        play_for(all_games, plies=4)
        settled(club, all_games)

        dovecot.stop()  # the mailbox; what Postfix takes for it waits there
        serve.says("the mailbox cannot be read")
        for game in all_games:  # one letter of each waits
            game.go_on()
        time.sleep(DOWN)
        dovecot.start()
        serve.says("the mailbox can be read again", seconds=RECOVERY)
        play_for(all_games, plies=3)
        settled(club, all_games)

        postfix.stop()  # the relay; letters are read, but no answer goes out
        for game in all_games:
            wait_for(lambda: drop(club, game), "a letter waits in the mailbox")
        serve.says("letters cannot be sent")
        wait_for(lambda: all(len(club.json("game", "show", game.number)["moves"]) == game.made for game in all_games), "moves are settled all the same")
        time.sleep(DOWN)
        assert club.json("outbox") != []
        postfix.start()
        serve.says("letters can be sent again", seconds=RECOVERY)
        play_for(all_games, plies=3)
        settled(club, all_games)

        postfix.stop()  # both at once
        dovecot.stop()
        serve.says("the mailbox cannot be read", times=2)
        time.sleep(DOWN // 2)
        dovecot.start()
        postfix.start()
        serve.says("the mailbox can be read again", times=2, seconds=RECOVERY)
        play_for(all_games, plies=2)
        settled(club, all_games)
        log = serve.log
    postfix.drained()

    told = collections.Counter(line.split(": ", 1)[-1][:30] for line in log.split("\n"))
    assert log.count("the mailbox cannot be read, it is tried again") == log.count("the mailbox can be read again") == 2, told
    assert 1 <= log.count("letters cannot be sent, it is tried again") == log.count("letters can be sent again") <= 2, told
    assert arbiter.read_new() == []  # none of them lasted a quarter of an hour
    for game in all_games:
        assert club.json("game", "show", game.number)["moves"] == game.score[:game.made]
        for player in (game.white, game.black):
            player.read_new()
            assert len({letter.message_id for letter in player.letters}) == len(player.letters), "a letter came twice"
        assert len(game.white.letters) + len(game.black.letters) == 2 + 2 * game.made
    assert len(club.json("letters")) == sum(game.made for game in all_games)
    assert club.letters_there() == {}
    club.run("verify")


def drop(club, game):
    """The next move, put into the mailbox while no mail server is there to bring it."""
    player = (game.white, game.black)[game.made % 2]
    for letter in player.letters + player.read_new():
        view = player.view(letter)
        if view and view.my_turn and len(view.score) == game.made:
            club.dovecot.lmtp(player.address, letter.reply_to, player.answer(letter, game.score[game.made], club.now))
            game.made += 1
            return True
    return False
