# receiver.py
import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, HTTPServer

key = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))

def verify(headers, body):
    """The event; None for what did not come from runnel, or not in the last five minutes."""
    id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) >= 300:
        return None
    mac = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    right = "v1," + base64.b64encode(mac).decode()
    signatures = headers.get("webhook-signature", "").split(" ")
    genuine = any(hmac.compare_digest(given.encode(), right.encode()) for given in signatures)
    return json.loads(body) if genuine else None

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        event = verify(self.headers, self.rfile.read(int(self.headers["content-length"])))
        self.send_response(204 if event else 400)
        self.end_headers()
        if event:
            print(event["type"], event["run_id"], event["seq"], flush=True)

HTTPServer(("127.0.0.1", int(os.environ.get("PORT", 3000))), Receiver).serve_forever()
