# telegram-bot.py
import hmac, json, os, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
from runnel_sdk import Runnel

env = os.environ.get
api = env("TELEGRAM_API", "https://api.telegram.org")
runnel = Runnel()


def is_telegram(headers):
    """Whether this has the secret that Telegram was given with the address."""
    right, given = env("TELEGRAM_SECRET", ""), headers.get("x-telegram-bot-api-secret-token", "")
    return right != "" and hmac.compare_digest(given.encode(), right.encode())


def ask(update):
    """A chat in Telegram is a thread here. What Telegram sends again has the same key, and starts no second run."""
    message = update.get("message", {})
    if not message.get("text") or message.get("from", {}).get("is_bot"):
        return
    chat_id = message["chat"]["id"]
    session_id = f"telegram:{chat_id}"
    known = runnel.threads.list(session_id=session_id, limit=1).first_page().data
    thread = known[0] if known else runnel.threads.create(session_id=session_id, idempotency_key=session_id)
    runnel.runs.create(
        agent_id=env("AGENT"),
        thread_id=thread.id,
        if_thread_busy="queue",
        input=message["text"],
        metadata={"chat_id": str(chat_id), "message_id": str(message["message_id"])},
        idempotency_key=f"telegram:update:{update['update_id']}",
    )


def answer(run):
    """Says in Telegram what came of a run."""
    of = run["metadata"]
    if "chat_id" not in of:
        return
    reply = {"message_id": int(of["message_id"]), "allow_sending_without_reply": True}
    text = (run["output"] or "I could not finish that.")[:4096]
    body = {"chat_id": int(of["chat_id"]), "text": text, "reply_parameters": reply}
    said = httpx.post(f"{api}/bot{env('TELEGRAM_TOKEN')}/sendMessage", json=body).json()
    if not said["ok"]:
        raise RuntimeError(said.get("description"))  # The webhook is then sent again.


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        status = 200
        try:
            if self.path == "/runnel":
                event = runnel.webhooks.verify(body, self.headers, env("WEBHOOK_SECRET"))
                answer(runnel.runs.retrieve(event.data.object.id))
            elif is_telegram(self.headers):
                ask(json.loads(body))  # The run goes on by itself: Telegram is answered at once.
            else:
                status = 401
        except Exception as error:
            print(repr(error), file=sys.stderr)
            status = 500
        self.send_response(status)
        self.end_headers()


if env("PORT"):
    ThreadingHTTPServer(("", int(env("PORT"))), Receiver).serve_forever()
