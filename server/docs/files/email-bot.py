# email-bot.py
import base64, hashlib, hmac, json, os, re, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
from runnel_sdk import Runnel

env = os.environ.get
api = env("POSTMARK_API", "https://api.postmarkapp.com")
runnel = Runnel()


def is_postmark(headers):
    """Whether this has the name and password that stand in the address which Postmark was given."""
    right = b"Basic " + base64.b64encode(env("EMAIL_LOGIN", "").encode())
    return hmac.compare_digest(headers.get("authorization", "").encode(), right)


def ask(mail):
    """The mails of one conversation are a thread. What is sent again has the same key, and starts no second run."""
    headers = {one["Name"].lower(): one["Value"] for one in mail["Headers"]}
    if headers.get("auto-submitted", "no").lower() != "no":
        return  # An answer to an answer of a program never ends.
    id = headers.get("message-id") or mail["MessageID"]
    first = (headers.get("references") or headers.get("in-reply-to") or id).split()[0]
    session_id = "email:" + hashlib.sha256(first.encode()).hexdigest()
    known = runnel.threads.list(session_id=session_id, limit=1).first_page().data
    thread = known[0] if known else runnel.threads.create(session_id=session_id, idempotency_key=session_id)
    subject = re.sub(r"^(re: *)?", "Re: ", mail["Subject"], count=1, flags=re.I)[:200]
    runnel.runs.create(
        agent_id=env("AGENT"),
        thread_id=thread.id,
        if_thread_busy="queue",
        input=mail.get("StrippedTextReply") or mail.get("TextBody") or mail["Subject"] or "Hello!",
        metadata={"to": mail["From"][:300], "subject": subject, "references": f"{first} {id}"[:500]},
        idempotency_key=f"email:{mail['MessageID']}",
    )


def answer(run):
    """Sends what came of a run."""
    of = run["metadata"]
    if "references" not in of:
        return
    headers = {
        "In-Reply-To": of["references"].split()[-1],
        "References": of["references"],
        "Auto-Submitted": "auto-replied",
    }
    mail = {
        "From": env("EMAIL_FROM"),
        "To": of["to"],
        "Subject": of["subject"],
        "TextBody": run["output"] or "I could not finish that.",
        "Headers": [{"Name": name, "Value": value} for name, value in headers.items()],
    }
    token = {"x-postmark-server-token": env("POSTMARK_TOKEN", ""), "accept": "application/json"}
    httpx.post(f"{api}/email", headers=token, json=mail).raise_for_status()  # Else the webhook is sent again.


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        status = 200
        try:
            if self.path == "/runnel":
                event = runnel.webhooks.verify(body, self.headers, env("WEBHOOK_SECRET"))
                answer(runnel.runs.retrieve(event.data.object.id))
            elif is_postmark(self.headers):
                ask(json.loads(body))
            else:
                status = 401
        except Exception as error:
            print(repr(error), file=sys.stderr)
            status = 500
        self.send_response(status)
        self.end_headers()


if env("PORT"):
    ThreadingHTTPServer(("", int(env("PORT"))), Receiver).serve_forever()
