"""A scripted POP3 server on a free port of this machine: well-behaved but for the faults it is told. What it was told is recorded.

faults maps a command (GREETING, USER, PASS, UIDL, LIST, RETR, DELE, QUIT) to a function of (server, connection, argument) that answers in its place and may
return "go on" for the usual answer; `once` makes one that does so a single time. Letters removed by DELE are gone once QUIT was answered, or would have been.
"""
import socket
import threading
import time

LIFE = 120  # seconds: nothing here outlives a test that was killed


class Closed(Exception):
    pass


class Connection:
    def __init__(self, server, link, number):
        self.server, self.link, self.number = server, link, number
        self.waiting = b""
        self.letters = []   # as they were when it logged in: [uidl, bytes]
        self.deleted = set()

    def line(self):
        while b"\n" not in self.waiting:
            part = self.link.recv(4096)
            if not part:
                raise Closed
            self.waiting += part
        line, self.waiting = self.waiting.split(b"\n", 1)
        return line.rstrip(b"\r").decode()

    def say(self, text):
        self.link.sendall(text if isinstance(text, bytes) else (text + "\r\n").encode())

    def body(self, number):
        """A letter as it goes over the line, dots doubled."""
        lines = self.letters[number - 1][1].split(b"\r\n")
        return b"\r\n".join(b"." + line if line.startswith(b".") else line for line in lines) + b"\r\n.\r\n"

    def serve(self):
        if self.fault("GREETING", ""):
            self.say("+OK ready")
        while True:
            line = self.line()
            name, _, argument = line.partition(" ")
            name = name.upper()
            self.server.said.append((self.number, line if name != "PASS" else "PASS"))
            if not self.fault(name, argument):
                continue
            answer = getattr(self, "do_" + name.lower(), None)
            if answer is None:
                self.say("-ERR unknown")
            elif answer(argument) == "end":
                return

    def fault(self, name, argument):
        """Whether the usual answer is to follow."""
        fault = self.server.faults.get(name)
        return fault is None or fault(self.server, self, argument) == "go on"

    def do_capa(self, argument):
        self.say("+OK\r\nUSER\r\nUIDL\r\n.")

    def do_user(self, argument):
        self.say("+OK")

    def do_pass(self, argument):
        self.letters = [list(letter) for letter in self.server.letters]
        self.say("+OK logged in")

    def do_uidl(self, argument):
        self.say("+OK")
        for number, (uidl, _) in enumerate(self.letters, 1):
            self.say(f"{number} {uidl}")
        self.say(".")

    def do_list(self, argument):
        self.say("+OK")
        for number, (_, raw) in enumerate(self.letters, 1):
            self.say(f"{number} {len(raw)}")
        self.say(".")

    def do_retr(self, argument):
        if int(argument) > len(self.letters):
            return self.say("-ERR no such message")
        self.say("+OK")
        self.say(self.body(int(argument)))

    def do_dele(self, argument):
        if int(argument) > len(self.letters):
            return self.say("-ERR no such message")
        self.deleted.add(int(argument))
        self.say("+OK")

    def do_quit(self, argument):
        self.expunge()
        self.say("+OK bye")
        return "end"

    def expunge(self):
        gone = [self.letters[number - 1] for number in sorted(self.deleted)]
        self.server.deleted += [uidl for uidl, _ in gone]
        for letter in gone:
            if letter in self.server.letters:
                self.server.letters.remove(letter)


class FakePop3:
    def __init__(self):
        self.letters = []  # [uidl, bytes], in the mailbox's order
        self.deleted, self.said, self.faults = [], [], {}
        self.end = time.monotonic() + LIFE
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(0.2)
        self.port = self.listener.getsockname()[1]
        self.closing = False
        self.connections = 0
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def add(self, raw, uidl=None):
        raw = raw if isinstance(raw, bytes) else raw.encode()
        self.letters.append([uidl or f"letter-{len(self.letters) + len(self.deleted) + 1}", raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")])

    def uidls(self):
        return [uidl for uidl, _ in self.letters]

    def accept(self):
        while not self.closing and time.monotonic() < self.end:
            try:
                link, _ = self.listener.accept()
            except OSError:
                continue
            self.connections += 1
            threading.Thread(target=self.talk, args=(link, self.connections), daemon=True).start()

    def talk(self, link, number):
        link.settimeout(30)
        try:
            Connection(self, link, number).serve()
        except (OSError, Closed):
            pass
        finally:
            link.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.closing = True
        self.thread.join()
        self.listener.close()


# --- faults ---

def says(text):
    def fault(server, connection, argument):
        connection.say(text)
    return fault


def hangs_up(after=b""):
    def fault(server, connection, argument):
        connection.say(after)
        raise Closed
    return fault


def waits(first=b"", seconds=20):
    def fault(server, connection, argument):
        connection.say(first)
        time.sleep(seconds)
        raise Closed
    return fault


def drips(text, seconds=0.3):
    """Never a pause long enough for a time-out of single reads."""
    def fault(server, connection, argument):
        for byte in text.encode():
            connection.say(bytes([byte]))
            time.sleep(seconds)
    return fault


def floods(piece=b"y" * 65536, first=b"", most=1 << 27):
    def fault(server, connection, argument):
        connection.say(first)
        for _ in range(most // len(piece)):
            connection.say(piece)
        raise Closed
    return fault


def of_letter(uidl, fault):
    """The fault, where the command names this letter."""
    def sometimes(server, connection, argument):
        number = int(argument)
        named = number <= len(connection.letters) and connection.letters[number - 1][0] == uidl
        return fault(server, connection, argument) if named else "go on"
    return sometimes


def bytes_of(marker, fault):
    """The fault, where the command names a letter that holds these bytes."""
    def sometimes(server, connection, argument):
        return fault(server, connection, argument) if marker in connection.letters[int(argument) - 1][1] else "go on"
    return sometimes


def once(fault, at=1):
    """Only at the `at`-th time; the usual answer otherwise."""
    count = [0]

    def sometimes(server, connection, argument):
        count[0] += 1
        return fault(server, connection, argument) if count[0] == at else "go on"
    return sometimes


def deletes_then(fault):
    """QUIT that deletes what it was told to, and whose answer is lost."""
    def both(server, connection, argument):
        connection.expunge()
        return fault(server, connection, argument)
    return both
