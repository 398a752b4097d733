"""A club on real servers: Dovecot keeps its mailbox, Postfix is its relay, and the clock is the real one, as servers stamp letters by it."""
from club import ADDRESS, Club
from letters import Incoming
from servers import present, serial


class ServedClub(Club):
    """incoming: imaps, imap, pop3s or pop3. relay: smtps, smtp or sendmail by Postfix; None: letters are sent into Maildirs, and those to the club come
    by LMTP. The service's address and those of the players are used by no other club; with a relay the players' letters lie in Dovecot's mailboxes."""

    def __init__(self, folder, dovecot, postfix=None, incoming="imaps", relay=None, mailbox=None, outgoing=None, **more):
        self.dovecot, self.postfix, self.relay = dovecot, postfix, relay
        self.number = next(serial)
        self.user = ADDRESS.replace("@", f"{self.number}@")
        reads = dovecot.mailbox(incoming, user=self.user, **(mailbox or {}))
        sends = None
        if relay == "sendmail":
            sends = postfix.sendmail()
        elif relay:
            sends = postfix.outgoing(relay, user=self.user, **(outgoing or {}))
        super().__init__(folder, mailbox=reads, outgoing=sends, address=self.user, **more)

    @property
    def now(self):
        return present()

    @now.setter
    def now(self, instant):
        """The present is what it is."""

    def advance(self, **delta):
        return self.now

    def player(self, name, address=None, program="thunderbird", add=True, options=()):
        address = address or f"{name.split()[0].lower()}{self.number}@{name.split()[-1].lower()}.example"
        player = super().player(name, address, program, add, options)
        if self.relay:
            player.maildir = self.dovecot.maildir(address)
        return player

    def once(self, expect=0, **more):
        self.untaken = True
        out = self.run("once", expect=expect, **more)
        if self.relay:
            self.postfix.drained()
        return out

    def once_command(self):
        return [self.program, "-c", str(self.configuration), "once"]

    def deliver(self, raw, received=True, sender="", **more):
        """From the sender's own mail server to the club's."""
        recipient = Incoming(raw).to
        if self.relay:
            self.postfix.inject(sender, recipient, raw)
            self.postfix.drained()
        else:
            self.dovecot.lmtp(sender, recipient, raw)

    def letters_there(self, folder="INBOX"):
        return self.dovecot.letters(folder, self.user)
