"""Real mail servers for the tests: Dovecot and Postfix on loopback, in a temporary folder, with certificates good and bad.

Nothing of the machine's own configuration is read or changed. Each server is a child of the test process: it is stopped by its own
control command, then by pid, whatever became of the test; should the test process itself be killed, the kernel ends it. As root Dovecot
keeps letters as user `mail`; started by an ordinary user it runs as that one. Postfix can only be started by root.
"""
import atexit
import contextlib
import datetime
import grp
import imaplib
import itertools
import os
import pathlib
import poplib
import pwd
import random
import shutil
import signal
import smtplib
import socket
import subprocess
import tempfile
import textwrap
import time

import pytest

from letters import UTC, Maildir

ROOT = os.geteuid() == 0
os.environ["PATH"] = os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"  # where the servers are; not on an ordinary user's path
PASSWORD = "correct-horse"
HOST = "mx.club.example"
CLUB = "chess@club.example"
SECONDS = 30  # for whatever a server is waited for

# One loopback address for each way in which a server may show itself; on the last it offers no TLS.
CERTIFICATES = {"good": "127.0.0.1", "expired": "127.0.0.2", "elsewhere": "127.0.0.3", "unknown": "127.0.0.4"}
WITHOUT_TLS = "127.0.0.5"
LISTEN = [*CERTIFICATES.values(), WITHOUT_TLS]


def wait_for(condition, what, seconds=SECONDS, pause=0.05):
    """What condition() returns, as soon as that is true."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, f"waited {seconds} s in vain: {what}"
        time.sleep(pause)


def present():
    """The real time, in whole seconds, for a club whose servers stamp letters themselves."""
    return datetime.datetime.now(UTC).replace(microsecond=0)


# --- ports ---

handed_out = set()


def free_ports(count):
    """Ports below those that the system gives to clients, so that none is taken while its server is down for a test."""
    low = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    dice, found = random.SystemRandom(), []
    while len(found) < count:
        port = dice.randrange(10000, max(low, 12000))
        if port not in handed_out and is_free(port):
            handed_out.add(port)
            found.append(port)
    return found


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
        return True


def answers(port, host="127.0.0.1"):
    try:
        with socket.create_connection((host, port), timeout=5) as line:
            return line.recv(1) != b""
    except OSError:
        return False


# --- certificates ---


class Certificates:
    """An authority of our own (`ca`) and one certificate for each name of CERTIFICATES: (file, key) by name."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.ca = self.folder / "ca.pem"
        self.make("ca", "/CN=Test Authority", "basicConstraints=critical,CA:TRUE", None)
        here = "DNS:localhost,IP:{}"
        self.make("good", "/CN=localhost", here, "ca")
        self.make("expired", "/CN=localhost", here, "ca", "20200101000000Z", "20200201000000Z")
        self.make("elsewhere", "/CN=imap.elsewhere.example", "DNS:imap.elsewhere.example", "ca")
        self.make("unknown", "/CN=localhost", here, None)

    def __getitem__(self, name):
        return self.folder / f"{name}.pem", self.folder / f"{name}.key"

    def openssl(self, *words):
        done = subprocess.run(["openssl", *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr

    def make(self, name, subject, extension, issuer, begin="20200101000000Z", end="20991231000000Z"):
        file, key = self[name]
        if "CA:TRUE" not in extension:
            extension = "subjectAltName=" + extension.format(CERTIFICATES[name])
        (self.folder / "serial").write_text("%02X\n" % random.randrange(16, 255))
        (self.folder / "index").write_text("")
        (self.folder / f"{name}.cnf").write_text(textwrap.dedent(f"""\
            [ca]
            default_ca = here
            [here]
            database = index
            serial = serial
            new_certs_dir = .
            default_md = sha256
            policy = any
            x509_extensions = more
            [any]
            commonName = supplied
            [more]
            {extension}
            [req]
            distinguished_name = nobody
            [nobody]
            """))
        self.openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-config", f"{name}.cnf", "-subj", subject,
                     "-keyout", key, "-out", f"{name}.csr")
        signer = ["-selfsign", "-keyfile", key] if issuer is None else ["-cert", self[issuer][0], "-keyfile", self[issuer][1]]
        self.openssl("ca", "-batch", "-notext", "-config", f"{name}.cnf", "-startdate", begin, "-enddate", end, *signer, "-in", f"{name}.csr",
                     "-out", file)


# --- servers ---


class Server:
    """A server as a child of this process. `command`: in the foreground; `ready`: whether it answers; `ask_to_stop`: its own way to end."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)
        self.child = None
        self.log_file = self.folder / "log"

    log = property(lambda self: self.log_file.read_text(errors="replace") if self.log_file.exists() else "")

    def start(self):
        """Ports that somebody was quicker to take are chosen anew, unless the server has had them before."""
        for attempt in range(3):
            self.configure()
            with open(self.folder / "output", "ab") as output:
                self.child = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *map(str, self.command())], cwd=self.folder, stdin=subprocess.DEVNULL,
                                              stdout=output, stderr=output, start_new_session=True)
            atexit.register(self.stop)
            end = time.monotonic() + SECONDS
            while self.child.poll() is None and time.monotonic() < end:
                if self.ready():
                    return self
                time.sleep(0.02)
            self.stop()
            if attempt < 2:
                self.choose_ports()
        raise AssertionError(f"{type(self).__name__} does not start: {(self.folder / 'output').read_text(errors='replace')}\n{self.log[-3000:]}")

    def stop(self):
        atexit.unregister(self.stop)
        if self.child is None:
            return
        asked = self.ask_to_stop() if self.child.poll() is None else None
        for last in (signal.SIGTERM, signal.SIGKILL):
            try:
                self.child.wait(10)
                break
            except subprocess.TimeoutExpired:
                self.child.send_signal(last)
        self.child.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child.pid, signal.SIGKILL)  # helpers that would end a little later
        if asked is not None:
            asked.wait(10)
        self.child = None

    def control(self, *words):
        return subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


DOVECOT = """\
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
default_internal_user = {internal}
default_login_user = {login}
default_internal_group = {group}
protocols = imap pop3 lmtp
listen = {listen}
hostname = {host}
ssl = yes
ssl_cert = <{good[0]}
ssl_key = <{good[1]}
disable_plaintext_auth = no
auth_mechanisms = plain login
auth_username_format = %Lu
auth_failure_delay = 0
recipient_delimiter = +
first_valid_uid = {uid}
mail_max_userip_connections = 100
mail_fsync = never
imap_idle_notify_interval = 1 mins
lda_mailbox_autocreate = yes
pop3_uidl_format = %08Xu%08Xv
passdb {{
  driver = static
  username_filter = !nobody*
  args = password={password}
}}
passdb {{
  driver = passwd-file
  args = {folder}/nobody
}}
userdb {{
  driver = passwd-file
  args = username_format=%Lu {folder}/places
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={folder}/mail/%Lu mail=maildir:{folder}/mail/%Lu/Maildir
}}
namespace inbox {{
  inbox = yes
  separator = /
}}
protocol lmtp {{
  postmaster_address = postmaster@club.example
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {ports[imap]}
  }}
  inet_listener imaps {{
    port = {ports[imaps]}
    ssl = yes
  }}
}}
service pop3-login {{
  chroot =
  inet_listener pop3 {{
    port = {ports[pop3]}
  }}
  inet_listener pop3s {{
    port = {ports[pop3s]}
    ssl = yes
  }}
}}
service lmtp {{
  inet_listener lmtp {{
    address = 127.0.0.1
    port = {ports[lmtp]}
  }}
}}
service auth {{
  inet_listener {{
    address = 127.0.0.1
    port = {ports[auth]}
  }}
}}
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service stats {{
  chroot =
}}
local {plain} {{
  ssl = no
}}
"""


class Dovecot(Server):
    """IMAP, POP3 (both with and without TLS from the start) and LMTP. Users are whole addresses, the part behind a `+` left out: everybody is there
    who is not called nobody…, and all have the same password. Letters lie in Maildirs below mail/, or where `places` says (address: path)."""

    def __init__(self, folder, certificates, places=None, more=""):
        super().__init__(folder)
        self.certificates = certificates
        self.more = more  # further lines of its configuration
        self.mail = self.folder / "mail"
        account = pwd.getpwnam("mail") if ROOT else pwd.getpwuid(os.getuid())
        self.uid, self.gid, self.user = account.pw_uid, account.pw_gid, account.pw_name
        for name in ("run", "state", "mail"):
            (self.folder / name).mkdir(exist_ok=True)
        self.own(self.mail)
        (self.folder / "nobody").touch()
        (self.folder / "places").write_text("".join(f"{user}:::::{self.mail}/{user}::userdb_uid={self.uid} userdb_gid={self.gid} userdb_mail=maildir:{place}\n"
                                                    for user, place in (places or {}).items()))
        self.password_file = self.folder / "password"
        self.password_file.touch(0o600)
        self.password_file.write_text(PASSWORD + "\n")
        self.choose_ports()

    def own(self, path):
        """What the tests put into a mailbox belongs to its user."""
        if ROOT:
            for place, folders, files in os.walk(path):
                for name in (".", *folders, *files):
                    os.chown(os.path.join(place, name), self.uid, self.gid)

    def choose_ports(self):
        names = ("imap", "imaps", "pop3", "pop3s", "lmtp", "auth")
        self.ports = dict(zip(names, free_ports(len(names))))

    def configure(self):
        system = ("dovecot", "dovenull", "dovecot") if ROOT else (self.user, self.user, grp.getgrgid(self.gid).gr_name)
        text = DOVECOT.format(folder=self.folder, internal=system[0], login=system[1], group=system[2], listen=", ".join(LISTEN), host=HOST,
                              good=self.certificates["good"], uid=self.uid, gid=self.gid, ports=self.ports, plain=WITHOUT_TLS, password=PASSWORD)
        for name, address in CERTIFICATES.items():
            file, key = self.certificates[name]
            text += f"local {address} {{\n  ssl_cert = <{file}\n  ssl_key = <{key}\n}}\n"
        (self.folder / "dovecot.conf").write_text(text + self.more)

    def command(self):
        return ["dovecot", "-F", "-c", self.folder / "dovecot.conf"]

    def ready(self):
        return all(answers(self.ports[name]) for name in ("imap", "pop3", "lmtp"))

    def ask_to_stop(self):
        return self.control("doveadm", "-c", self.folder / "dovecot.conf", "stop")

    # --- users and their letters ---

    def maildir(self, user=CLUB):
        """The user's INBOX as a folder to be looked at."""
        path = self.mail / user / "Maildir"
        maildir = Maildir(path)
        self.own(self.mail / user)
        return maildir

    def mailbox(self, scheme="imaps", host="localhost", user=CLUB, folder="", **more):
        """The section [mailbox] of a club that reads the letters of `user`; what is None in `more` is left out."""
        keys = {"url": f"{scheme}://{host}:{self.ports[scheme]}{folder}", "user": user, "password_file": self.password_file,
                "ca_file": self.certificates.ca, **more}
        return {key: value for key, value in keys.items() if value is not None}

    @contextlib.contextmanager
    def imap(self, user=CLUB):
        """A mail program that is logged in."""
        line = imaplib.IMAP4("127.0.0.1", self.ports["imap"], timeout=SECONDS)
        try:
            line.login(user, PASSWORD)
            yield line
        finally:
            with contextlib.suppress(imaplib.IMAP4.error, OSError):
                line.logout()

    @contextlib.contextmanager
    def pop3(self, user=CLUB):
        line = poplib.POP3("127.0.0.1", self.ports["pop3"], timeout=SECONDS)
        try:
            line.user(user)
            line.pass_(PASSWORD)
            yield line
        finally:
            with contextlib.suppress(poplib.error_proto, OSError):
                line.quit()

    def append(self, raw, instant=None, folder="INBOX", flags="", user=CLUB):
        """Into a folder with an INTERNALDATE of one's choice."""
        date = imaplib.Time2Internaldate(instant) if instant else None
        with self.imap(user) as line:
            kind, words = line.append(f'"{folder}"', flags, date, crlf(raw))
            assert kind == "OK", words

    def lmtp(self, sender, recipient, raw):
        """Delivers as a mail server does: INTERNALDATE and Received are of now."""
        with smtplib.LMTP("127.0.0.1", self.ports["lmtp"], timeout=SECONDS) as line:
            line.sendmail(sender, [recipient], crlf(raw))

    def letters(self, folder="INBOX", user=CLUB):
        """Every letter that lies in a folder, as a dict uid → (flags without \\Recent, first 100 kB); {} if there is no such folder."""
        with self.imap(user) as line:
            if line.select(f'"{folder}"', readonly=True)[0] != "OK":
                return {}
            answer = line.uid("fetch", "1:*", "(FLAGS BODY.PEEK[]<0.100000>)")[1]
        found = {}
        for item in answer:
            if isinstance(item, tuple):
                head = item[0].decode()
                uid = int(head[head.index("UID ") + 4:].split()[0])
                found[uid] = ({flag.decode() for flag in imaplib.ParseFlags(item[0])} - {"\\Recent"}, item[1])
        return found

    def sessions(self):
        """Processes that serve a line now, by name."""
        names = []
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                name, rest = stat.read_text().split("(", 1)[1].rsplit(")", 1)
                if self.child and int(rest.split()[1]) == self.child.pid and name in ("imap", "pop3", "lmtp"):
                    names.append(name)
        return names

    def quiet(self):
        """Waits until nobody is logged in any more."""
        wait_for(lambda: not {"imap", "pop3"} & set(self.sessions()), "a session of Dovecot ends")


MAIN = """\
compatibility_level = 3.6
config_directory = {folder}/etc
queue_directory = {folder}/queue
data_directory = {folder}/data
mail_owner = postfix
setgid_group = postdrop
inet_interfaces = all
inet_protocols = ipv4
myhostname = {host}
mydomain = club.example
myorigin = {host}
mydestination =
mynetworks = 127.0.0.0/8
alias_maps =
alias_database =
local_recipient_maps =
virtual_mailbox_domains = regexp:{folder}/etc/domains
virtual_mailbox_maps =
virtual_transport = lmtp:inet:127.0.0.1:{lmtp}
recipient_delimiter = +
lmtp_destination_recipient_limit = 1
transport_maps = regexp:{folder}/etc/transport
relayhost =
default_transport = error:5.1.2 no way from here to there
smtpd_relay_restrictions = permit_mynetworks, reject
smtpd_recipient_restrictions = check_recipient_access regexp:{folder}/etc/recipients, permit_mynetworks, reject
smtpd_client_connection_count_limit = 0
smtpd_client_port_logging = yes
smtpd_peername_lookup = no
smtpd_error_sleep_time = 0
message_size_limit = 4000000
mailbox_size_limit = 0
virtual_mailbox_limit = 0
maillog_file = {folder}/log
maillog_file_prefixes = {folder}
biff = no
smtp_dns_support_level = disabled
lmtp_host_lookup = native
smtp_host_lookup = native
minimal_backoff_time = 1s
maximal_backoff_time = 2s
queue_run_delay = 1s
maximal_queue_lifetime = 1h
bounce_queue_lifetime = 1h
smtpd_tls_security_level = may
smtpd_tls_auth_only = yes
smtpd_tls_cert_file = {good[0]}
smtpd_tls_key_file = {good[1]}
smtpd_sasl_type = dovecot
smtpd_sasl_path = inet:127.0.0.1:{auth}
smtpd_sasl_auth_enable = yes
"""

SERVICES = """\
pickup    unix  n       -       n       1       1       pickup
cleanup   unix  n       -       n       -       0       cleanup
qmgr      unix  n       -       n       1       1       qmgr
rewrite   unix  -       -       n       -       -       trivial-rewrite
bounce    unix  -       -       n       -       0       bounce
defer     unix  -       -       n       -       0       bounce
trace     unix  -       -       n       -       0       bounce
verify    unix  -       -       n       -       1       verify
flush     unix  n       -       n       1000?   0       flush
proxymap  unix  -       -       n       -       -       proxymap
tlsmgr    unix  -       -       n       1000?   1       tlsmgr
smtp      unix  -       -       n       -       -       smtp
showq     unix  n       -       n       -       -       showq
error     unix  -       -       n       -       -       error
retry     unix  -       -       n       -       -       error
discard   unix  -       -       n       -       -       discard
lmtp      unix  -       -       n       -       -       lmtp
anvil     unix  -       -       n       -       1       anvil
scache    unix  -       -       n       -       1       scache
postlog   unix-dgram n  -       n       -       1       postlogd
"""


class Postfix(Server):
    """The club's relay and its mail exchanger in one. Every letter to *.example goes to Dovecot by LMTP; an address that Dovecot does not know
    (nobody…) is thereby accepted and bounced. `refuse` and `hold_back` change what becomes of an address.

    Ports: smtp takes letters of anybody on this machine; submission (STARTTLS) and smtps want a log-in by the same users as Dovecot's."""

    def __init__(self, folder, dovecot, **settings):
        super().__init__(folder)
        self.dovecot = dovecot
        self.certificates = dovecot.certificates
        self.settings = settings
        self.etc = self.folder / "etc"
        for name in ("etc", "queue", "data"):
            (self.folder / name).mkdir(exist_ok=True)
        shutil.chown(self.folder / "data", "postfix")
        self.tables = {"domains": [(r"/\.example$/", "OK")], "recipients": [], "transport": []}
        self.choose_ports()

    def choose_ports(self):
        names = ("smtp", "submission", "smtps")
        self.ports = dict(zip(names, free_ports(len(names))))

    def configure(self):
        main = MAIN.format(folder=self.folder, host=HOST, lmtp=self.dovecot.ports["lmtp"], auth=self.dovecot.ports["auth"],
                           good=self.certificates["good"])
        main += "".join(f"{name} = {value}\n" for name, value in self.settings.items())
        (self.etc / "main.cf").write_text(main)
        lines = [f"127.0.0.1:{self.ports['smtp']} inet n - n - - smtpd"]
        logged_in = ["smtpd_client_restrictions=permit_sasl_authenticated,reject", "smtpd_delay_reject=yes"]
        for name, address in CERTIFICATES.items():
            file, key = self.certificates[name]
            options = [f"smtpd_tls_cert_file={file}", f"smtpd_tls_key_file={key}", *logged_in]
            lines.append(service(address, self.ports["submission"], *options))
            lines.append(service(address, self.ports["smtps"], "smtpd_tls_wrappermode=yes", *options))
        lines.append(service(WITHOUT_TLS, self.ports["submission"], "smtpd_tls_security_level=none", "smtpd_tls_auth_only=no", *logged_in))
        (self.etc / "master.cf").write_text("\n".join(lines) + "\n" + SERVICES)
        shutil.copy("/etc/postfix/dynamicmaps.cf", self.etc)  # names the maps that this installation has
        self.write_tables()

    def write_tables(self):
        for name, rows in self.tables.items():
            (self.etc / name).write_text("".join(f"{pattern} {action}\n" for pattern, action in rows))

    def command(self):
        if not (self.folder / "queue" / "maildrop").exists():  # this makes the queue's folders
            check = subprocess.run(["postfix", "-c", str(self.etc), "check"], capture_output=True, text=True, timeout=SECONDS)
            assert check.returncode == 0, check.stderr
        folder = subprocess.run(["postconf", "-c", str(self.etc), "-h", "daemon_directory"], capture_output=True, text=True, timeout=SECONDS, check=True)
        # The master changes its user for a while, whereby the kernel forgets whose end it should not outlive: a shell hears of that for it.
        return ["bash", "-c", 'trap "kill \\$!" TERM; "$@" & wait; wait', "keeper", f"{folder.stdout.strip()}/master", "-c", self.etc, "-s"]

    def ready(self):
        return all(answers(self.ports[name]) for name in ("smtp", "submission"))

    def ask_to_stop(self):
        return self.control("postfix", "-c", self.etc, "stop")

    # --- what becomes of letters ---

    def refuse(self, address=None, words="550 5.1.1 there is nobody of that name"):
        """Answers RCPT for one address with these words; without an address every letter is taken again."""
        self.change("recipients", address, words)

    def hold_back(self, address=None):
        """Takes letters to one address and cannot deliver them for the time being; without an address all go on their way."""
        self.change("transport", address, "lmtp:inet:127.0.0.1:1")  # nobody is there

    def change(self, table, address, action):
        user, domain = address.replace(".", r"\.").split("@") if address else ("", "")
        self.tables[table] = [(rf"/^{user}@{domain}$/", action)] if address else []
        self.write_tables()
        assert self.control("postfix", "-c", self.etc, "reload").wait(SECONDS) == 0

    def outgoing(self, scheme="smtps", host="localhost", user=CLUB, **more):
        """The section [outgoing] of a club that sends by this relay. smtp: by submission with STARTTLS."""
        port = self.ports["submission" if scheme == "smtp" else scheme]
        keys = {"url": f"{scheme}://{host}:{port}", "user": user, "password_file": self.dovecot.password_file, "ca_file": self.certificates.ca, **more}
        return {key: value for key, value in keys.items() if value is not None}

    def sendmail(self):
        """The section [outgoing] of a club on a machine that has this Postfix for its own."""
        program = self.folder / "sendmail"
        program.write_text(f'#!/bin/sh\nexec sendmail -C "{self.etc}" "$@"\n')
        program.chmod(0o755)
        return {"url": f"sendmail:{program}"}

    def inject(self, sender, recipient, raw):
        """A letter as a mail server elsewhere hands it over."""
        with smtplib.SMTP("127.0.0.1", self.ports["smtp"], timeout=SECONDS) as line:
            line.sendmail(sender, [recipient], crlf(raw))

    def waiting(self, *queues):
        return [file.name for queue in queues for file in (self.folder / "queue" / queue).rglob("*") if file.is_file()]

    def drained(self):
        """Waits until every letter is delivered, bounced or deferred. Looked at twice in the direction in which letters go, as one may just
        have moved, or come from another."""
        flow = ("maildrop", "incoming", "active")
        wait_for(lambda: not self.waiting(*flow) and not self.waiting(*flow), "Postfix delivers its letters", pause=0.02)


def service(address, port, *options):
    return f"{address}:{port} inet n - n - - smtpd" + "".join(f"\n  -o {{{name} = {value}}}" for name, value in (option.split("=", 1) for option in options))


def crlf(raw):
    return raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


# --- fixtures ---


@contextlib.contextmanager
def public_folder():
    """A temporary folder in which Dovecot's user may look around too, as pytest's own are closed."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="epistle-servers."))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def server_folder():
    with public_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def certificates(server_folder):
    return Certificates(server_folder / "certificates")


@pytest.fixture(scope="session")
def dovecot(server_folder, certificates):
    """One for all tests of this process. A test that stops it starts it again; `mailbox_user` is a mailbox of its own."""
    with Dovecot(server_folder / "dovecot", certificates) as server:
        yield server


@pytest.fixture(scope="session")
def postfix(server_folder, dovecot):
    if not ROOT:
        pytest.skip("Postfix can only be started by root")
    with Postfix(server_folder / "postfix", dovecot, delay_warning_time="1s") as server:
        yield server


serial = itertools.count(1)


@pytest.fixture
def mailbox_user():
    """An address nobody has used before."""
    return f"chess{next(serial)}@club.example"
