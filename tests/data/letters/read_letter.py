"""Reads raw letters with Python's email package and prints what it found, one JSON object a line: for test_outbox_compose."""
import email, email.header, email.policy, email.utils, json, sys

def decode(text):
    return str(email.header.make_header(email.header.decode_header(text.replace("\r\n ", " "))))

def tree(part):
    if part.is_multipart():
        return [part.get_content_type()] + [tree(p) for p in part.iter_parts()]
    return part.get_content_type()

for path in sys.argv[1:]:
    with open(path, "rb") as file:
        raw = file.read()
    letter = email.message_from_bytes(raw, policy=email.policy.default)
    old = email.message_from_bytes(raw)
    found = {"tree": tree(letter), "defects": [str(d) for part in letter.walk() for d in part.defects],
             "lines": max(len(line) for line in raw.split(b"\r\n")),
             "seven_bit": all(byte < 127 for byte in raw), "bare": raw.replace(b"\r\n", b"").count(b"\n") + raw.replace(b"\r\n", b"").count(b"\r")}
    for name in ("From", "To", "Reply-To"):  # Python 3.11's newer reader puts blanks between encoded words of a name
        found[name] = [[decode(display), address] for display, address in email.utils.getaddresses(old.get_all(name, []))]
    for name in ("Date", "Message-ID", "In-Reply-To", "References", "Auto-Submitted", "X-Auto-Response-Suppress", "X-Epistle-Loop", "MIME-Version"):
        found[name] = str(letter[name]) if letter[name] is not None else None
    found["Subject"] = str(letter["Subject"])
    found["Subject by parts"] = decode(old["Subject"])
    for part in letter.walk():
        if not part.is_multipart():
            text = part.get_payload(decode=True).decode("utf-8")
            found[part.get_content_type()] = text if part.get_content_type().startswith("application") else text.replace("\r\n", "\n")
            if part.get_filename():
                found["file"] = part.get_filename()
    print(json.dumps(found))
