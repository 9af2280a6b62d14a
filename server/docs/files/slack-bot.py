# slack-bot.py
import hashlib, hmac, json, os, re, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
from runnel_sdk import Runnel

env = os.environ.get
api = env("SLACK_API", "https://slack.com/api")
runnel = Runnel()


def is_slack(headers, body):
    """Whether Slack has sent this within five minutes."""
    sent = headers.get("x-slack-request-timestamp", "")
    key = env("SLACK_SIGNING_SECRET", "").encode()
    right = "v0=" + hmac.new(key, f"v0:{sent}:".encode() + body, hashlib.sha256).hexdigest()
    given = headers.get("x-slack-signature", "")
    is_fresh = sent.isdigit() and abs(time.time() - int(sent)) < 300
    return is_fresh and hmac.compare_digest(given.encode(), right.encode())


def ask(said):
    """A thread in Slack is a thread here. What Slack sends again has the same key, and starts no second run."""
    event = said["event"]
    if event["type"] not in ("app_mention", "message") or event.get("bot_id") or event.get("subtype"):
        return
    channel, thread_ts = event["channel"], event.get("thread_ts", event["ts"])
    session_id = f"slack:{said['team_id']}:{channel}:{thread_ts}"
    known = runnel.threads.list(session_id=session_id, limit=1).first_page().data
    thread = known[0] if known else runnel.threads.create(session_id=session_id, idempotency_key=session_id)
    runnel.runs.create(
        agent_id=env("AGENT"),
        thread_id=thread.id,
        if_thread_busy="queue",
        input=re.sub(r"<@\w+>", "", event["text"]).strip() or "Hello!",
        metadata={"channel": channel, "thread_ts": thread_ts},
        idempotency_key=f"slack:{said['event_id']}",
    )


def answer(run):
    """Says in Slack what came of a run."""
    if "channel" not in run["metadata"]:
        return
    text = run["output"] or "I could not finish that."
    headers = {"authorization": f"Bearer {env('SLACK_BOT_TOKEN')}"}
    said = httpx.post(f"{api}/chat.postMessage", headers=headers, json={**run["metadata"], "text": text}).json()
    if not said["ok"]:
        raise RuntimeError(said["error"])  # The webhook is then sent again.


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        status, text = 200, ""
        try:
            if self.path == "/runnel":
                event = runnel.webhooks.verify(body, self.headers, env("WEBHOOK_SECRET"))
                answer(runnel.runs.retrieve(event.data.object.id))
            elif not is_slack(self.headers, body):
                status = 401
            elif (said := json.loads(body))["type"] == "url_verification":
                text = said["challenge"]
            else:
                ask(said)  # The run goes on by itself: Slack is answered within its three seconds.
        except Exception as error:
            print(repr(error), file=sys.stderr)
            status = 500
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())


if env("PORT"):
    ThreadingHTTPServer(("", int(env("PORT"))), Receiver).serve_forever()
