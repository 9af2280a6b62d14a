import base64
import hashlib
import hmac
import json
import time
from typing import Mapping

from runnel_sdk import Runnel, WebhookVerificationError

runnel = Runnel()
secret = "whsec_" + base64.b64encode(b"a secret of twenty-four.").decode()


def receive(body: bytes, headers: Mapping[str, str]) -> int:
    try:
        event = runnel.webhooks.verify(body, headers, secret)
    except WebhookVerificationError:
        print("refused")
        return 400
    if event.type == "run.completed":
        print(event.run_id, event.data.object.output)
    elif event.type == "file.ready":
        print(event.data.object.filename)
    return 204


# Two requests, as the server would send them; the second is forged.
sent = json.dumps({"type": "run.completed", "run_id": "run_1", "data": {"object": {"output": "Hello"}}}).encode()
timestamp = str(int(time.time()))
mac = hmac.new(b"a secret of twenty-four.", f"evt_1.{timestamp}.".encode() + sent, hashlib.sha256)
for signed in ("v1," + base64.b64encode(mac.digest()).decode(), "v1,other"):
    given = {"webhook-id": "evt_1", "webhook-timestamp": timestamp, "webhook-signature": signed}
    print(receive(sent, given))
