"""The scene of letters once more, over the lines a club has: its mailbox is Dovecot's, by IMAP and TLS, its relay an SMTP server that keeps what it takes."""
import collections
import contextlib
import shutil
import socket
import socketserver
import threading

from club import Club
from letters import Incoming, Maildir
from scenes import LETTERS, Scene
from servers import CLUB, Certificates, Dovecot, wait_for


class Relay(socketserver.ThreadingTCPServer):
    """Takes every letter for a player into his Maildir before it says so."""

    daemon_threads = True

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Talk)
        self.folder = folder
        self.lock = threading.Lock()
        self.open = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """The program was killed while it spoke."""


class Talk(socketserver.StreamRequestHandler):
    timeout = 60

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.server.lock:
            self.server.open += 1

    def finish(self):
        with contextlib.suppress(OSError):
            super().finish()
        with self.server.lock:
            self.server.open -= 1

    def say(self, text):
        self.wfile.write(text.encode() + b"\r\n")

    def handle(self):
        self.say("220 relay.example ESMTP")
        recipient = ""
        while line := self.rfile.readline(4096).decode("ascii", "replace"):
            verb = line[:4].upper()
            if verb == "RCPT":
                recipient = line[line.index("<") + 1:line.index(">")]
            if verb == "DATA":
                self.say("354 go on")
                if not self.take(recipient):
                    return
            elif verb == "QUIT":
                self.say("221 bye")
                return
            else:
                self.say("250 relay.example" if verb == "EHLO" else "250 2.0.0 ok")

    def take(self, recipient):
        lines = []
        while (line := self.rfile.readline(4096)) != b".\r\n":
            if not line.endswith(b"\n"):
                return False
            lines.append(line[1:] if line.startswith(b".") else line)
        with self.server.lock:
            Maildir(self.server.folder / recipient).deliver(b"".join(lines))
        self.say("250 2.0.0 ok: taken")
        return True


class ImapInbox:
    """The club's mailbox, as Club knows its Maildir."""

    def __init__(self, dovecot):
        self.dovecot = dovecot

    def deliver(self, raw, instant, **_):
        self.dovecot.append(raw, instant)

    def files(self):
        return [*self.dovecot.letters(), *self.dovecot.letters("Processed")]


class ServedScene(Scene):
    def __init__(self, folder):
        for above in (folder.parent, folder.parent.parent):  # Dovecot's user must get at its mailboxes
            if above.name.startswith(("epistle-crash.", "tmp")):
                above.chmod(above.stat().st_mode | 0o011)
        self.dovecot = Dovecot(folder / "dovecot", Certificates(folder / "certificates")).start()
        self.home = self.dovecot.mail / CLUB
        super().__init__(folder)
        self.dovecot.quiet()
        shutil.copytree(self.home, folder / "home")

    def make_club(self):
        self.relay = Relay(self.work / "out")
        club = Club(self.work, mailbox=self.dovecot.mailbox("imaps", host="127.0.0.1", after="move:Processed"),
                    outgoing={"url": f"smtp://127.0.0.1:{self.relay.server_address[1]}", "tls": "none"})
        club.inbox = ImapInbox(self.dovecot)
        club.run("check", "--init")
        return club

    def rest(self):
        """Waits until no server is still busy with what a killed program left."""
        self.dovecot.quiet()
        wait_for(lambda: self.relay.open == 0, "the relay's last line ends", pause=0.01)

    def restore(self):
        self.rest()
        super().restore()
        shutil.rmtree(self.home)
        shutil.copytree(self.home.parents[2] / "home", self.home)
        self.dovecot.own(self.home)

    def letters_there(self):
        return LETTERS

    def filed(self):
        """What lies in Processed, by Message-ID, and what is left."""
        filed = collections.Counter()
        for folder in ("INBOX", "Processed"):
            filed.update((folder, Incoming(raw).message_id) for _, raw in self.dovecot.letters(folder).values())
        return sorted(filed.items())

    def folders(self):
        self.rest()
        return super().folders()
