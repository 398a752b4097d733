"""The service as a process that stays up: started, told things by signals, listened to, ended; and a service manager that only listens."""
import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import time

SECONDS = 60  # everything that is waited for comes within a few; a busy machine may take its time


def until(condition, what, seconds=SECONDS):
    """Waits until the condition holds and returns its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.05)


class Serve:
    """`epistle serve` on a club's store; a context that ends it cleanly. Its words lie in a file, as a journal would hold them."""

    def __init__(self, club, environment=None, expect=0):
        self.club = club
        self.expect = expect
        self.path = pathlib.Path(club.folder) / "serve.log"
        self.begin = self.path.stat().st_size if self.path.exists() else 0
        with open(self.path, "ab") as log:
            self.process = subprocess.Popen([club.program, "-c", str(club.configuration), "serve"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**os.environ, **(environment or {})})

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.callback(self.kill)
            self.says(" serves ")
            stack.pop_all()
        return self

    def __exit__(self, kind, value, trace):
        try:
            if kind is None and self.process.returncode is None:
                self.end()
        finally:
            self.kill()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    @property
    def log(self):
        return self.path.read_bytes()[self.begin:].decode()

    def says(self, words, times=1, seconds=SECONDS):
        """Waits for words in the log."""
        self.until(lambda: self.log.count(words) >= times, f"{words!r} in the log", seconds)

    def until(self, condition, what, seconds=SECONDS):
        """Waits for something that only happens while it serves."""
        def holds():
            value = condition()
            assert value or self.process.poll() is None, f"it ended with {self.process.returncode} before {what}:\n{self.log}"
            return value
        return until(holds, what, seconds)

    def tell(self, number):
        self.process.send_signal(number)

    def reload(self):
        """SIGHUP, and its answer in the log."""
        answers = self.log.count("goes on serving") + self.log.count("the configuration stays")
        self.tell(signal.SIGHUP)
        self.until(lambda: self.log.count("goes on serving") + self.log.count("the configuration stays") > answers, "an answer to SIGHUP")

    def end(self, number=signal.SIGTERM):
        self.tell(number)
        self.process.wait(timeout=120)
        assert self.process.returncode == self.expect, f"exit {self.process.returncode}\n{self.log}"


class Manager:
    """A socket that hears what a service tells systemd, message by message."""

    serial = 0

    def __init__(self):
        Manager.serial += 1
        self.name = f"epistle-test-{os.getpid()}-{Manager.serial}"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        self.socket.bind("\0" + self.name)
        self.socket.setblocking(False)
        self.heard = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    @property
    def environment(self):
        return {"NOTIFY_SOCKET": "@" + self.name}

    def listen(self):
        with contextlib.suppress(BlockingIOError):
            while True:
                self.heard += self.socket.recv(65536).decode().splitlines()
        return self.heard

    def waits(self, words, times=1):
        until(lambda: sum(line.startswith(words) for line in self.listen()) >= times, f"{words} from the service; heard: {self.heard}")
