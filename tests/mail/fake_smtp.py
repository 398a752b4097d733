"""A scripted SMTP relay on a free port of this machine: well-behaved but for the rules it is given. What it was told is recorded.

A rule is "STAGE=ACTION". STAGE is connect, ehlo, helo, starttls, auth, mail, rcpt, data, body, dot, rset or quit; behind it may stand
    @N      only on the N-th connection
    #N      only the N-th time that a client gets there, counted over all connections
    +N      from the N-th time on that a letter's stage is reached on one connection
    ~TEXT   only if the command holds TEXT
The first rule that fits counts. ACTION is a reply, several lines divided by "|", or what is wrong, or both divided by ";":
    drop    closes the connection                     reset   breaks it
    silent  never says anything again                 slow:S  waits S seconds
    drip:S  the reply that follows goes byte by byte, S seconds between them
    endless a reply without a line end, for ever      flood   a reply whose last line never comes
"body" is reached when the letter begins to come: its reply is said before the letter has ended.

By itself: fake_smtp.py [--auth USER:PASSWORD] [--size N] [--tls CERT KEY] RULE … prints its port, then a line for each event, until its input ends.
"""
import base64
import json
import re
import socket
import ssl
import struct
import sys
import threading
import time

LIFE = 120          # seconds: nothing here outlives a test that was killed
FLOOD_MAX = 1 << 27  # bytes

USUAL = {"connect": "220 relay.example ESMTP", "helo": "250 relay.example", "starttls": "220 go on", "mail": "250 2.1.0 ok", "rcpt": "250 2.1.5 ok",
         "data": "354 go on", "dot": "250 2.0.0 ok: queued as {n}", "rset": "250 2.0.0 ok", "quit": "221 2.0.0 bye", "noop": "250 2.0.0 ok"}


class Closed(Exception):
    pass


class Rule:
    def __init__(self, text):
        head, self.action = text.split("=", 1)
        found = re.fullmatch(r"([a-z]+)(?:@(\d+))?(?:#(\d+))?(?:\+(\d+))?(?:~(.*))?", head)
        self.stage = found[1]
        self.connection, self.time, self.since = (int(group) if group else None for group in found.groups()[1:4])
        self.text = found[5]

    def fits(self, stage, connection, time_, turn, text):
        return (stage == self.stage and self.connection in (None, connection) and self.time in (None, time_)
                and (self.since is None or turn >= self.since) and (self.text is None or self.text in text))


class FakeSmtp:
    """letters: (from, to, bytes as they came, dots undone), each whose final dot came, whatever was answered; commands: (connection, line)."""

    def __init__(self, *rules, auth=None, size=None, tls=None, on_event=None):
        self.follow(*rules)
        self.auth, self.size, self.tls, self.on_event = auth, size, tls, on_event
        self.lock = threading.Lock()
        self.connections = self.open = self.most_open = 0
        self.letters, self.commands, self.accepted = [], [], []
        self.end = time.monotonic() + LIFE
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.url = f"smtp://127.0.0.1:{self.port}"
        self.stopped = False
        threading.Thread(target=self.listen, daemon=True).start()

    def follow(self, *rules):
        """Other rules from now on, with counts (#N) from the beginning."""
        self.rules = [Rule(rule) for rule in rules]
        self.reached = {}

    def close(self):
        self.stopped = True
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def verbs(self, connection=None):
        """The first words of all commands."""
        return [line.split(" ")[0].upper() for number, line in self.commands if connection in (None, number)]

    def count(self, verb):
        return self.verbs().count(verb)

    def listen(self):
        self.socket.settimeout(LIFE)
        while not self.stopped:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            with self.lock:
                self.connections += 1
                self.open += 1
                self.most_open = max(self.most_open, self.open)
                number = self.connections
            threading.Thread(target=self.serve, args=(client, number), daemon=True).start()

    def serve(self, client, number):
        client.settimeout(LIFE)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.tell(number, "CONNECT")
        talk = Talk(self, client, number)
        try:
            talk.run()
        except (Closed, OSError):
            pass
        with self.lock:
            self.open -= 1
        self.tell(number, "CLOSED")
        talk.close()

    def tell(self, number, what):
        if self.on_event:
            self.on_event(number, what)

    def find(self, stage, connection, turn, text):
        with self.lock:
            self.reached[stage] = self.reached.get(stage, 0) + 1
            for rule in self.rules:
                if rule.fits(stage, connection, self.reached[stage], turn, text):
                    return rule.action
        return None


class Talk:
    """One connection."""

    def __init__(self, server, client, number):
        self.server, self.client, self.number = server, client, number
        self.file = client.makefile("rb")
        self.turn = 1  # of the letter on this connection
        self.secure = self.authenticated = False
        self.sender = self.recipient = None

    def close(self):
        self.file.close()
        self.client.close()

    # --- saying ---

    def act(self, action):
        drip = 0
        for part in action.split(";"):
            word, _, value = part.partition(":")
            if word == "drop":
                raise Closed
            elif word == "reset":
                self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                raise Closed
            elif word == "silent":
                while self.client.recv(65536):
                    pass
                raise Closed
            elif word == "slow":
                time.sleep(float(value))
            elif word == "drip":
                drip = float(value)
            elif word in ("endless", "flood"):
                piece = (b"x" if word == "endless" else b"250-more\r\n") * 1000
                for _ in range(FLOOD_MAX // len(piece)):
                    self.client.sendall(piece)
                raise Closed
            else:
                self.say(part, drip)

    def say(self, reply, drip=0):
        lines = reply.split("|")
        whole = "".join(line + "\r\n" for line in lines).encode("utf-8", "surrogateescape")
        if not drip:
            self.client.sendall(whole)
            return
        for byte in whole:
            self.client.sendall(bytes([byte]))
            time.sleep(drip)

    def step(self, stage, text="", usual=None, before=None):
        """Says what the rules have for this stage. Whether it was a yes; then before() is called before it is said."""
        action = self.server.find(stage, self.number, self.turn, text)
        action = action if action is not None else (usual or USUAL[stage]).format(n=len(self.server.letters))
        replies = [part for part in action.split(";") if part[:1].isdigit()]
        yes = bool(replies) and replies[-1][0] == ("3" if stage == "data" else "2")
        if yes and before:
            before()
        self.act(action)
        return yes

    # --- hearing ---

    def line(self):
        if time.monotonic() > self.server.end:
            raise Closed
        line = self.file.readline(100000)
        if not line.endswith(b"\n"):
            raise Closed
        return line

    def run(self):
        self.step("connect")
        while True:
            line = self.line()
            text = line.rstrip(b"\r\n").decode("utf-8", "replace")
            with self.server.lock:
                self.server.commands.append((self.number, text))
            self.server.tell(self.number, text)
            verb = text.split(" ")[0].upper()
            getattr(self, "do_" + verb.lower(), self.do_else)(text)

    def do_ehlo(self, text):
        offers = ["relay.example"]
        if self.server.size is not None:
            offers.append(f"SIZE {self.server.size}")
        if self.server.tls and not self.secure:
            offers.append("STARTTLS")
        elif self.server.auth:
            offers.append("AUTH PLAIN LOGIN XOAUTH2 OAUTHBEARER")
        offers.append("ENHANCEDSTATUSCODES")
        self.step("ehlo", text, "|".join(f"250{'-' if offer is not offers[-1] else ' '}{offer}" for offer in offers))

    def do_helo(self, text):
        self.step("helo", text)

    def do_starttls(self, text):
        if self.step("starttls", text):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.server.tls)
            self.client = context.wrap_socket(self.client, server_side=True)
            self.file = self.client.makefile("rb")
            self.secure = True

    def do_auth(self, text):
        action = self.server.find("auth", self.number, self.turn, text)
        if action is not None:
            self.act(action)
            return
        words = text.split(" ")
        if words[1].upper() != "PLAIN":
            self.say("504 5.5.4 not this one")
            return
        answer = words[2] if len(words) > 2 else None
        if answer is None:
            self.say("334 ")
            answer = self.line().strip().decode()
        user, password = base64.b64decode(answer).decode().split("\0")[1:]
        self.authenticated = [user, password] == self.server.auth.split(":")
        self.say("235 2.7.0 welcome" if self.authenticated else "535 5.7.8 wrong user or password")

    def do_mail(self, text):
        if self.sender is not None:
            self.say("503 5.5.1 one letter at a time")
        elif self.server.auth and not self.authenticated:
            self.say("530 5.7.0 log in first")
        elif self.step("mail", text):
            self.sender = re.match(r"MAIL FROM:<(.*?)>", text, re.I)[1]

    def do_rcpt(self, text):
        if self.sender is None:
            self.say("503 5.5.1 MAIL first")
        elif self.step("rcpt", text):
            self.recipient = re.match(r"RCPT TO:<(.*?)>", text, re.I)[1]

    def do_data(self, text):
        if self.recipient is None:
            self.say("503 5.5.1 RCPT first")
            return
        if not self.step("data", text):
            return
        body = self.server.find("body", self.number, self.turn, text)
        if body is not None:
            self.act(body)
        lines = []
        while (line := self.line()) != b".\r\n":
            lines.append(line[1:] if line.startswith(b".") else line)
        letter = (self.sender, self.recipient, b"".join(lines))
        with self.server.lock:
            self.server.letters.append(letter)
        self.server.tell(self.number, "LETTER " + (letter[2].hex() if len(letter[2]) < 2000 else f"of {len(letter[2])} bytes"))
        self.step("dot", self.recipient, before=lambda: self.accept(letter))
        self.forget()

    def accept(self, letter):
        with self.server.lock:
            self.server.accepted.append(letter)

    def forget(self):
        self.sender = self.recipient = None
        self.turn += 1

    def do_rset(self, text):
        if self.step("rset", text):
            self.forget()

    def do_quit(self, text):
        self.step("quit", text)
        raise Closed

    def do_noop(self, text):
        self.step("noop", text)

    def do_else(self, text):
        self.say("500 5.5.2 what?")


def main(words):
    settings, rules = {}, []
    while words:
        word = words.pop(0)
        if word == "--auth":
            settings["auth"] = words.pop(0)
        elif word == "--size":
            settings["size"] = int(words.pop(0))
        elif word == "--tls":
            settings["tls"] = (words.pop(0), words.pop(0))
        else:
            rules.append(word)
    lock = threading.Lock()

    def tell(number, what):
        with lock:
            print(number, what, flush=True)
    server = FakeSmtp(*rules, on_event=tell, **settings)
    with lock:
        print(server.port, flush=True)
    sys.stdin.read()
    server.close()
    with lock:
        print(json.dumps({"connections": server.connections, "most": server.most_open, "letters": len(server.letters),
                          "accepted": len(server.accepted)}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
