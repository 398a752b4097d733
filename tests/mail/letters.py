"""Letters as mail programs write them, and as they read them; Maildirs; scripted players (RULINGS 53).

A player knows what stands in the letters of his own folder and nothing else. Nothing here looks into the store.
"""
import base64
import datetime
import email
import email.header
import email.message
import email.policy
import email.utils
import html
import itertools
import os
import pathlib
import re
import textwrap
from dataclasses import dataclass, field

UTC = datetime.timezone.utc


def mail_date(instant):
    return email.utils.format_datetime(instant)


# --- Maildirs ---


class Maildir:
    """new/, cur/ and tmp/ below a path; made if missing."""

    serial = itertools.count(1)

    def __init__(self, path):
        self.path = pathlib.Path(path)
        for part in ("tmp", "new", "cur"):
            (self.path / part).mkdir(parents=True, exist_ok=True)

    def deliver(self, raw, instant=None, seen=False, name=None):
        """Delivers as a mail server does: written to tmp/, synced, renamed. Returns the file's name without flags. `seen`: into
        cur/ with the S flag, as if a person had read it already."""
        stamp = int(instant.timestamp()) if instant else 1000000000
        name = name or f"{stamp}.P{os.getpid()}Q{next(self.serial):06}.mx"
        temporary = self.path / "tmp" / name
        with open(temporary, "wb") as file:
            file.write(raw.replace(b"\r\n", b"\n"))
            file.flush()
            os.fsync(file.fileno())
        if instant:
            os.utime(temporary, (stamp, stamp))
        temporary.rename(self.path / ("cur" if seen else "new") / (name + ":2,S" if seen else name))
        return name

    def files(self):
        """Every file in new/ and cur/ by name without flags, in the order of arrival."""
        found = {}
        for part in ("new", "cur"):
            for file in (self.path / part).iterdir():
                found[file.name.split(":2,")[0]] = file
        return dict(sorted(found.items(), key=lambda item: (item[1].stat().st_mtime_ns, item[0])))

    def waiting(self):
        """Names in new/: what nobody has filed."""
        return sorted(file.name for file in (self.path / "new").iterdir())


# --- reading ---


class Incoming:
    """A letter as a mail program shows it."""

    def __init__(self, raw, name=None):
        self.raw = raw
        self.name = name
        self.message = email.message_from_bytes(raw, policy=email.policy.default)

    def header(self, name):
        value = self.message[name]
        return str(value) if value is not None else None

    def _address(self, name):
        return email.utils.parseaddr(self.header(name) or "")[1]

    subject = property(lambda self: self.header("Subject") or "")
    message_id = property(lambda self: (self.header("Message-ID") or "").strip())
    sender = property(lambda self: self._address("From"))
    to = property(lambda self: self._address("To"))
    reply_to = property(lambda self: self._address("Reply-To") or self._address("From"))
    return_path = property(lambda self: self._address("Return-Path"))
    in_reply_to = property(lambda self: (self.header("In-Reply-To") or "").strip())
    references = property(lambda self: (self.header("References") or "").split())
    date = property(lambda self: email.utils.parsedate_to_datetime(self.header("Date")))

    def part(self, kind):
        for part in self.message.walk():
            if part.get_content_type() == kind:
                return part
        return None

    def content(self, kind):
        part = self.part(kind)
        if part is None:
            return ""
        content = part.get_content()
        return content if isinstance(content, str) else content.decode("utf-8")

    text = property(lambda self: self.content("text/plain").replace("\r\n", "\n"))
    flat = property(lambda self: " ".join(self.text.split()))  # for phrases that may be wrapped
    html = property(lambda self: self.content("text/html"))

    @property
    def pgn(self):
        """The attached game, whatever type it was given; "" if none."""
        for part in self.message.walk():
            if part.get_content_type() == "application/x-chess-pgn" or (part.get_filename() or "").endswith(".pgn"):
                content = part.get_content()
                return content if isinstance(content, str) else content.decode("utf-8")
        return ""

    @property
    def game(self):
        """The game's number in the subject, `[Anytown Chess #42] …`; None if there is none."""
        found = re.search(r"#(\d+)\]", self.subject)
        return int(found.group(1)) if found else None

    def __repr__(self):
        return f"<{self.subject!r} to {self.to}>"


# --- writing: one function per mail program ---


@dataclass
class Draft:
    """What a mail program has in hand when its user presses Send."""

    name: str
    address: str
    to: str
    subject: str
    new_text: str
    message_id: str
    date: datetime.datetime
    answered: Incoming = None
    cc: str = None
    extra: dict = field(default_factory=dict)  # further header fields
    quote: bool = True

    def message(self, program):
        message = email.message.EmailMessage(policy=email.policy.SMTP)
        message["From"] = email.utils.formataddr((self.name, self.address))
        message["To"] = self.to
        if self.cc:
            message["Cc"] = self.cc
        message["Subject"] = self.subject
        message["Date"] = mail_date(self.date)
        message["Message-ID"] = self.message_id
        if self.answered is not None:
            message["In-Reply-To"] = self.answered.message_id
            message["References"] = " ".join([*self.answered.references, self.answered.message_id])
        if program:
            message["User-Agent"] = program
        for name, value in self.extra.items():
            message[name] = value
        return message

    def quoted(self, prefix="> "):
        if self.answered is None or not self.quote:
            return ""
        lines = self.answered.text.rstrip("\n").split("\n")
        return "\n".join((">" + line if line.startswith(">") else prefix + line).rstrip() for line in lines) + "\n"

    def has_quote(self):
        return self.answered is not None and self.quote


def _html_of(text):
    return "".join(f"<div>{html.escape(line) or '<br>'}</div>" for line in text.rstrip("\n").split("\n"))


def thunderbird(draft, bottom=False):
    """Plain text, attribution line, `> ` quotes; above the new text with bottom=True, as many set it."""
    message = draft.message("Mozilla Thunderbird")
    text = draft.new_text.rstrip("\n") + "\n"
    if draft.has_quote():
        attribution = f"On {draft.answered.date:%d.%m.%y %H:%M}, {email.utils.parseaddr(draft.answered.header('From'))[0]} wrote:"
        quote = f"{attribution}\n{draft.quoted()}"
        text = quote + "\n" + text if bottom else text + "\n" + quote
    message.set_content(text, charset="utf-8", cte="8bit" if not text.isascii() else "7bit")
    return message.as_bytes()


def thunderbird_bottom(draft):
    return thunderbird(draft, bottom=True)


def flowed(draft):
    """format=flowed: long lines broken after a blank, quotes without a blank behind `>`, lines that begin with a blank stuffed."""
    message = draft.message("Mozilla Thunderbird")
    lines = []
    for line in draft.new_text.rstrip("\n").split("\n"):
        wrapped = textwrap.wrap(line, 66, break_long_words=False) or [""]
        lines += [piece + " " for piece in wrapped[:-1]] + [wrapped[-1]]
    lines = [" " + line if line.startswith((" ", ">", "From ")) else line for line in lines]
    if draft.has_quote():
        lines += ["", f"On {draft.answered.date:%d/%m/%Y %H:%M}, {draft.answered.sender} wrote:"]
        lines += draft.quoted("> ").rstrip("\n").split("\n")
    lines += ["", "-- ", draft.name]
    message.set_content("\n".join(lines) + "\n", charset="utf-8", cte="8bit")
    message.set_param("format", "flowed")
    return message.as_bytes()


def gmail(draft):
    """multipart/alternative in quoted-printable, the quote in a gmail_quote block."""
    message = draft.message(None)
    text, page = draft.new_text.rstrip("\n") + "\n", _html_of(draft.new_text)
    if draft.has_quote():
        name, address = email.utils.parseaddr(draft.answered.header("From"))
        attribution = f"On {draft.answered.date:%a, %b %-d, %Y at %-I:%M %p} {name} <\n{address}> wrote:"
        text += f"\n{attribution}\n\n{draft.quoted()}"
        page += (f'<br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">{html.escape(attribution)}<br></div>'
                 f'<blockquote class="gmail_quote">{_html_of(draft.answered.text)}</blockquote></div>')
    message.set_content(text, charset="utf-8", cte="quoted-printable")
    message.add_alternative(f'<div dir="ltr">{page}</div>\n', subtype="html", charset="utf-8", cte="quoted-printable")
    return message.as_bytes()


def outlook(draft):
    """A header block in place of `>` marks, windows-1252, quoted-printable, an HTML twin."""
    message = draft.message(None)
    message["X-Mailer"] = "Microsoft Outlook 16.0"
    message["Thread-Topic"] = draft.subject
    text = draft.new_text.rstrip("\n") + "\n\n"
    if draft.has_quote():
        answered = draft.answered
        text += (f"From: {answered.header('From')}\nSent: {answered.date:%A, %B %-d, %Y %-I:%M %p}\n"
                 f"To: {answered.header('To')}\nSubject: {answered.subject}\n\n{answered.text}")
    encoding = "windows-1252" if _fits(text, "windows-1252") else "utf-8"
    message.set_content(text, charset=encoding, cte="quoted-printable")
    message.add_alternative(f"<html><body>{_html_of(text)}</body></html>\n", subtype="html", charset="utf-8", cte="quoted-printable")
    return message.as_bytes()


def outlook_old(draft):
    """The line `-----Original Message-----` and everything in base64."""
    message = draft.message(None)
    message["X-Mailer"] = "Microsoft Office Outlook 12.0"
    text = draft.new_text.rstrip("\n") + "\n\n"
    if draft.has_quote():
        answered = draft.answered
        text += (f"-----Original Message-----\nFrom: {answered.header('From')}\nSent: {answered.date:%d %B %Y %H:%M}\n"
                 f"To: {answered.header('To')}\nSubject: {answered.subject}\n\n{answered.text}")
    message.set_content(text, charset="utf-8", cte="base64")
    return message.as_bytes()


def iphone(draft):
    """Top posting, the signature above the quote, the attribution itself quoted."""
    message = draft.message(None)
    message["X-Mailer"] = "iPhone Mail (20F75)"
    text = draft.new_text.rstrip("\n") + "\n\nSent from my iPhone\n"
    if draft.has_quote():
        name, address = email.utils.parseaddr(draft.answered.header("From"))
        text += f"\n> On {draft.answered.date:%b %-d, %Y, at %H:%M}, {name} <{address}> wrote:\n> \n{draft.quoted()}"
    message.set_content(text, charset="utf-8", cte="quoted-printable")
    return message.as_bytes()


def bare(draft):
    """mailx: the words alone."""
    message = draft.message("mailx")
    message.set_content(draft.new_text.rstrip("\n") + "\n", charset="utf-8", cte="8bit")
    return message.as_bytes()


def base64_only(draft):
    """A web mailer that encodes all it sends and quotes nothing."""
    message = draft.message("Webmail 1.0")
    message.set_content(draft.new_text.rstrip("\n") + "\n", charset="utf-8", cte="base64")
    return message.as_bytes()


PROGRAMS = {"thunderbird": thunderbird, "thunderbird_bottom": thunderbird_bottom, "flowed": flowed, "gmail": gmail,
            "outlook": outlook, "outlook_old": outlook_old, "iphone": iphone, "bare": bare, "base64": base64_only}


def _fits(text, encoding):
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def with_received(raw, host, instant, envelope_from="", sender_host="mail.example"):
    """What the club's own mail server puts before a letter."""
    lines = f"Return-Path: <{envelope_from}>\r\n" if envelope_from else ""
    lines += f"Received: from {sender_host} (unknown [192.0.2.7])\r\n\tby {host} (Postfix) with ESMTPS id 4F00\r\n\tfor <chess>; {mail_date(instant)}\r\n"
    return lines.encode() + raw


# --- what a letter says about a game ---

SAN = r"(?:O-O(?:-O)?|[KQRBN]?[a-h]?[1-8]?x?[a-h][1-8](?:=[QRBN])?)[+#]?"


def score_of(text):
    """The longest run of moves in a text that begins with number 1, as SAN; [] if there is none. Reads PGN and plain scores."""
    text = re.sub(r"^\[.*\]\s*$", "", text, flags=re.M)
    text = re.sub(r"\{[^}]*\}", " ", text)
    best = []
    for start in re.finditer(r"(?<![\w.])1\.(?!\d)", text):
        moves, at = [], start.end()
        while True:
            token = re.compile(rf"\s*(?:\d+\.+\s*|\|\s*)*({SAN})(?![\w-])(?:\s*\(=\))?").match(text, at)
            if not token:
                break
            moves.append(token.group(1))
            at = token.end()
        if len(moves) > len(best):
            best = moves
    return best


@dataclass
class View:
    """What a player makes of a letter about a game."""

    game: int
    score: list
    colour: str = None  # "white" or "black"; None: the letter does not say
    over: bool = False
    result: str = "*"

    @property
    def my_turn(self):
        return not self.over and self.colour == ("white" if len(self.score) % 2 == 0 else "black")


class Player:
    """A player with an address and a folder of his own. `view` is the hook that reads the service's letters: the PGN if one is attached,
    else the score behind "The moves so far:" (templates/en/score.md) and the side in "you have White" or beside the board; replace it where a letter says more."""

    def __init__(self, name, address, maildir, program="thunderbird"):
        self.name = name
        self.address = address
        self.maildir = maildir if isinstance(maildir, Maildir) else Maildir(maildir)
        self.program = program
        self.letters = []  # all that came, in order
        self.sent = []     # (new text, raw bytes)
        self.known = set()
        self.colours = {}  # by game, once a letter has told
        self.serial = itertools.count(1)

    def read_new(self):
        """The letters that came since the last look."""
        fresh = []
        for name, file in self.maildir.files().items():
            if name not in self.known:
                self.known.add(name)
                fresh.append(Incoming(file.read_bytes(), name))
        self.letters += fresh
        return fresh

    def newest(self, game=None):
        """The last letter that came, or the last about a game."""
        self.read_new()
        return next(letter for letter in reversed(self.letters) if game is None or letter.game == game)

    def view(self, letter):
        if letter.game is None:
            return None
        pgn, text = letter.pgn, letter.text
        tags = dict(re.findall(r'^\[(\w+) "(.*)"\]', pgn, re.M))
        heading = re.search(r"^(?:The moves so far|All the moves, result (\S+)):$", text, re.M)
        score = score_of(pgn) or (score_of(text[heading.end():]) if heading else [])
        found = re.search(r"\byou have (White|Black)\b|seen from your side, (White|Black)'s", letter.flat)
        colour = (found.group(1) or found.group(2)).lower() if found else None
        if tags.get("White") != tags.get("Black"):
            colour = {tags.get("White"): "white", tags.get("Black"): "black"}.get(self.name, colour)
        colour = colour or self.colours.get(letter.game)
        if colour:
            self.colours[letter.game] = colour
        result = tags.get("Result") or (heading and heading.group(1)) or "*"
        return View(letter.game, score, colour, result != "*", result)

    def draft(self, to, subject, text, now, answered=None, **more):
        identity = f"<{next(self.serial):04}.{self.address.replace('@', '.')}@{self.address.split('@')[1]}>"
        return Draft(self.name, self.address, to, subject, text, identity, now, answered, **more)

    def write(self, to, subject, text, now, program=None, **more):
        """A letter that answers none. Returns its bytes; the caller delivers them."""
        raw = PROGRAMS[program or self.program](self.draft(to, subject, text, now, **more))
        self.sent.append((text, raw))
        return raw

    def answer(self, letter, text, now, program=None, to=None, **more):
        """Presses Reply: to Reply-To, `Re:` before the subject, the letter quoted as the program does."""
        subject = letter.subject if letter.subject.lower().startswith("re:") else "Re: " + letter.subject
        raw = PROGRAMS[program or self.program](self.draft(to or letter.reply_to, subject, text, now, letter, **more))
        self.sent.append((text, raw))
        return raw


def written(row, ply, how):
    """A move as people write it: row is (uci, san, long) of `epistle moves`, ply counts from 0."""
    uci, san, long_form = row
    number, dots = ply // 2 + 1, "..." if ply % 2 else "."
    return {"san": san, "uci": uci, "long": long_form, "numbered": f"{number}{dots} {san}", "tight": f"{number}{dots}{san}",
            "marked": san + "!?", "zeros": san.replace("O", "0"), "no_check": san.rstrip("+#"),
            "figurine": san.translate(str.maketrans("KQRBN", "♔♕♖♗♘")) if san[0] in "KQRBN" else san}[how]


WAYS = ("san", "uci", "long", "numbered", "tight", "marked", "zeros", "no_check", "figurine")
