# discord-bot.py
import json, os, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey
from runnel_sdk import Runnel

env = os.environ.get
api = env("DISCORD_API", "https://discord.com/api/v10")
runnel = Runnel()
PING, COMMAND, PONG, LATER = 1, 2, 1, 5


def is_discord(headers, body):
    """Whether Discord has signed this."""
    key = VerifyKey(bytes.fromhex(env("DISCORD_PUBLIC_KEY", "")))
    signed = headers.get("x-signature-timestamp", "").encode() + body
    try:
        key.verify(signed, bytes.fromhex(headers.get("x-signature-ed25519", "")))
        return True
    except (BadSignatureError, ValueError):
        return False


def ask(said):
    """Each person has a thread in each channel. What Discord sends again has the same key, and starts no second run."""
    user = said.get("member", said)["user"]
    session_id = f"discord:{said['channel_id']}:{user['id']}"
    known = runnel.threads.list(session_id=session_id, limit=1).first_page().data
    thread = known[0] if known else runnel.threads.create(session_id=session_id, idempotency_key=session_id)
    options = said["data"].get("options") or [{"value": "Hello!"}]
    runnel.runs.create(
        agent_id=env("AGENT"),
        thread_id=thread.id,
        if_thread_busy="queue",
        input=str(options[0]["value"]),
        metadata={"application_id": said["application_id"], "interaction_token": said["token"]},
        idempotency_key=f"discord:{said['id']}",
    )


def answer(run):
    """Says in Discord what came of a run. The token of an interaction is good for 15 minutes."""
    of = run["metadata"]
    if "interaction_token" not in of:
        return
    url = f"{api}/webhooks/{of['application_id']}/{of['interaction_token']}/messages/@original"
    said = httpx.patch(url, json={"content": (run["output"] or "I could not finish that.")[:2000]})
    if said.status_code >= 500:
        raise RuntimeError(f"Discord: {said.status_code}")  # The webhook is then sent again.


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        status, said = 200, None
        try:
            if self.path == "/runnel":
                event = runnel.webhooks.verify(body, self.headers, env("WEBHOOK_SECRET"))
                answer(runnel.runs.retrieve(event.data.object.id))
            elif not is_discord(self.headers, body):
                status = 401
            elif (asked := json.loads(body))["type"] == PING:
                said = {"type": PONG}
            else:
                if asked["type"] == COMMAND:
                    ask(asked)
                said = {"type": LATER}  # The run goes on by itself: Discord is answered within its three seconds.
        except Exception as error:
            print(repr(error), file=sys.stderr)
            status = 500
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(said).encode() if said else b"")


if env("PORT"):
    ThreadingHTTPServer(("", int(env("PORT"))), Receiver).serve_forever()
