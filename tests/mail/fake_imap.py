"""An IMAP server of our own that can be broken at any command: what no real server would do when asked to.

It runs in threads of the test's process on a port the system chooses, and keeps its letters itself. A fault is a function put into
`on[COMMAND]`: it is called instead of the server's own handling with the Session and the words behind the command, and may send whatever bytes it
likes, close the line, change the folders, or go on with session.usual(). Every command is noted in `said`, in order, without its tag.
"""
import base64
import re
import socket
import threading
import time

SECONDS = 60  # no line lasts longer
CAPABILITIES = "IMAP4rev1 AUTH=PLAIN SASL-IR IDLE UIDPLUS MOVE NAMESPACE"


class Letter:
    def __init__(self, raw, flags=(), date="30-Nov-2031 10:00:00 +0100"):
        self.raw = raw if isinstance(raw, bytes) else raw.encode()
        self.flags = set(flags)
        self.date = date


class Folder:
    def __init__(self, validity=1):
        self.validity = validity
        self.letters = {}  # uid → Letter
        self.next = 1

    def add(self, raw, **more):
        self.letters[self.next] = Letter(raw, **more)
        self.next += 1
        return self.next - 1


class Closed(Exception):
    """The line is to be closed now."""


class FakeImap:
    def __init__(self, folders=("INBOX",), capabilities=CAPABILITIES):
        self.folders = {name: Folder(100 + number) for number, name in enumerate(folders)}
        self.capabilities = capabilities
        self.on = {}        # command → fault
        self.said = []      # every command, "UID FETCH 1:2 (…)"
        self.lines = 0      # how often somebody has connected
        self.ended = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.sessions = []
        threading.Thread(target=self.accept, daemon=True).start()

    inbox = property(lambda self: self.folders["INBOX"])

    def accept(self):
        while not self.ended.is_set():
            try:
                line, _ = self.listener.accept()
            except OSError:
                return
            self.lines += 1
            session = Session(self, line)
            self.sessions.append(session)
            threading.Thread(target=session.run, daemon=True).start()

    def close(self):
        self.ended.set()
        self.listener.close()
        for session in self.sessions:
            session.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def commands(self, name):
        return [command for command in self.said if command.startswith(name)]

    def once(self, command, fault):
        """A fault that happens one time."""
        def first(session, words):
            del self.on[command]
            fault(session, words)
        self.on[command] = first


class Session:
    """One line. `send` puts bytes on it as they are; `ok` ends the command."""

    def __init__(self, server, line):
        self.server, self.line = server, line
        line.settimeout(SECONDS)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        self.folder = None
        self.tag = ""
        self.words = ""
        self.command = ""

    def close(self):
        try:
            self.line.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.line.close()

    def run(self):
        try:
            self.greet()
            while True:
                self.one()
        except (OSError, Closed, ValueError):
            self.close()

    def greet(self):
        fault = self.server.on.get("GREETING")
        if fault:
            fault(self, "")
        else:
            self.send("* OK here\r\n")

    def one(self):
        text = self.read()
        self.tag, _, rest = text.partition(" ")
        command, _, self.words = rest.partition(" ")
        if command.upper() == "UID":
            second, _, self.words = self.words.partition(" ")
            command = f"{command} {second}"
        self.command = command.upper()
        if self.command not in ("AUTHENTICATE", "LOGIN"):
            self.server.said.append(f"{self.command} {self.words}".strip())
        fault = self.server.on.get(self.command)
        if fault:
            fault(self, self.words)
        else:
            self.usual()

    def usual(self):
        name = "do_" + self.command.lower().replace(" ", "_")
        handler = getattr(self, name, None)
        if handler:
            handler(self.words)
        else:
            self.send(f"{self.tag} BAD what is {self.command}?\r\n")

    # --- the line ---

    def read(self):
        while b"\n" not in self.buffer:
            piece = self.line.recv(4096)
            if not piece:
                raise Closed
            self.buffer += piece
        text, _, self.buffer = self.buffer.partition(b"\n")
        return text.rstrip(b"\r").decode("latin-1")

    def send(self, text):
        self.line.sendall(text if isinstance(text, bytes) else text.encode("latin-1"))

    def ok(self, words="done"):
        self.send(f"{self.tag} OK {words}\r\n")

    def no(self, words="not now"):
        self.send(f"{self.tag} NO {words}\r\n")

    def drip(self, text, pause=0.2):
        """Bytes one by one, for as long as somebody listens."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and not self.server.ended.is_set():
            for byte in text if isinstance(text, bytes) else text.encode():
                self.send(bytes([byte]))
                self.server.ended.wait(pause)

    # --- what a server does ---

    def do_capability(self, _):
        self.send(f"* CAPABILITY {self.server.capabilities}\r\n")
        self.ok()

    def do_authenticate(self, words):
        word = words.partition(" ")[2]
        if not word:
            self.send("+ \r\n")
            word = self.read()
        user, password = base64.b64decode(word).split(b"\0")[1:]
        if (user, password) == (b"chess", b"secret"):
            self.ok()
        else:
            self.no("[AUTHENTICATIONFAILED] wrong password")

    def do_noop(self, _):
        self.ok()

    def do_logout(self, _):
        self.send("* BYE until then\r\n")
        self.ok()
        raise Closed

    def do_namespace(self, _):
        self.send('* NAMESPACE (("" "/")) NIL NIL\r\n')
        self.ok()

    def do_list(self, words):
        name = unquote(words.partition(" ")[2])
        if not name:
            self.send('* LIST (\\Noselect) "/" ""\r\n')
        elif name in self.server.folders:
            self.send(f'* LIST () "/" "{quoted(name)}"\r\n')
        self.ok()

    def do_create(self, words):
        self.server.folders[unquote(words)] = Folder(500 + len(self.server.folders))
        self.ok()

    def do_subscribe(self, _):
        self.ok()

    def do_select(self, words, mode="READ-WRITE"):
        name = unquote(words)
        self.folder = self.server.folders.get(name)
        if self.folder is None:
            self.no("[NONEXISTENT] no such folder")
            return
        self.send("* FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft)\r\n* OK [PERMANENTFLAGS (\\Deleted \\Seen \\*)] kept\r\n"
                  f"* {len(self.folder.letters)} EXISTS\r\n* 0 RECENT\r\n* OK [UIDVALIDITY {self.folder.validity}] valid\r\n"
                  f"* OK [UIDNEXT {self.folder.next}] next\r\n")
        self.ok(f"[{mode}] open")

    def do_examine(self, words):
        self.do_select(words, "READ-ONLY")

    def uids(self, words):
        found = []
        for piece in words.split(",") if words else []:
            first, _, last = piece.partition(":")
            first, last = ((max(self.folder.letters, default=0) if end == "*" else int(end)) for end in (first, last or first))
            found += [uid for uid in sorted(self.folder.letters) if min(first, last) <= uid <= max(first, last)]
        return found

    def do_uid_search(self, words):
        found = sorted(self.folder.letters)
        chosen = re.search(r"UID ([\d:,*]+)", words)
        if chosen:
            found = self.uids(chosen.group(1))
        if "UNDELETED" in words:
            found = [uid for uid in found if "\\Deleted" not in self.folder.letters[uid].flags]
        self.send(" ".join(["* SEARCH", *map(str, found)]) + "\r\n")
        self.ok()

    def do_uid_fetch(self, words):
        numbers, _, items = words.partition(" ")
        for uid in self.uids(numbers):
            self.answer_fetch(uid, items)
        self.ok()

    def answer_fetch(self, uid, items, body=None):
        """body: other bytes in the letter's place."""
        letter = self.folder.letters[uid]
        number = sorted(self.folder.letters).index(uid) + 1
        answer = [f"UID {uid}".encode()]
        if "RFC822.SIZE" in items:
            answer.append(f"RFC822.SIZE {len(letter.raw)}".encode())
        if "INTERNALDATE" in items:
            answer.append(f'INTERNALDATE "{letter.date}"'.encode())
        asked = re.search(r"BODY\.PEEK\[(HEADER)?\](?:<(\d+)\.(\d+)>)?", items)
        if asked:
            part = letter.raw if body is None else body
            if asked.group(1):
                part = part[:part.find(b"\r\n\r\n") + 4]
            name = f"BODY[{asked.group(1) or ''}]"
            if asked.group(2) is not None:
                part = part[int(asked.group(2)):int(asked.group(2)) + int(asked.group(3))]
                name += f"<{asked.group(2)}>"
            answer.append(f"{name} {{{len(part)}}}\r\n".encode() + part)
        self.send(f"* {number} FETCH (".encode() + b" ".join(answer) + b")\r\n")

    def do_uid_store(self, words):
        numbers, _, change = words.partition(" ")
        flags = set(re.findall(r"\\\w+", change))
        for uid in self.uids(numbers):
            self.folder.letters[uid].flags |= flags
        self.ok()

    def copy(self, words, command):
        numbers, _, name = words.partition(" ")
        target = self.server.folders.get(unquote(name))
        if target is None:
            self.no("[TRYCREATE] no such folder")
            return None
        uids = self.uids(numbers)
        for uid in uids:
            target.add(self.folder.letters[uid].raw)
        return uids

    def do_uid_copy(self, words):
        if self.copy(words, "COPY") is not None:
            self.ok()

    def do_uid_move(self, words):
        uids = self.copy(words, "MOVE")
        if uids is not None:
            self.expunge(uids)
            self.ok()

    def do_uid_expunge(self, words):
        self.expunge([uid for uid in self.uids(words) if "\\Deleted" in self.folder.letters[uid].flags])
        self.ok()

    def do_expunge(self, _):
        self.expunge([uid for uid in sorted(self.folder.letters) if "\\Deleted" in self.folder.letters[uid].flags])
        self.ok()

    def expunge(self, uids):
        for uid in uids:
            self.send(f"* {sorted(self.folder.letters).index(uid) + 1} EXPUNGE\r\n")
            del self.folder.letters[uid]

    def do_idle(self, _):
        self.send("+ idling\r\n")
        self.read()
        self.ok()


def unquote(word):
    word = word.strip()
    if word.startswith('"') and word.endswith('"'):
        word = re.sub(r"\\(.)", r"\1", word[1:-1])
    return word


def quoted(name):
    return re.sub(r'(["\\])', r"\\\1", name)
