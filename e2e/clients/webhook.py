# Verifies what was received, as the standard's own library signed it, and refuses everything else.
import json
import os
import time

from runnel_sdk import AsyncRunnel, WebhookVerificationError


async def main():
    received = json.loads(os.environ["RECEIVED"])
    body, headers, secret = received["body"], received["headers"], received["secret"]
    verify = AsyncRunnel().webhooks.verify
    assert verify(body, headers, secret).type == json.loads(body)["type"]
    assert verify(body.encode(), {name.upper(): value for name, value in headers.items()}, secret)["id"]
    assert AsyncRunnel().tools.verify(body, headers, ["whsec_" + "QUFB" * 8, secret])["id"]
    first = headers["webhook-signature"]
    assert verify(body, {**headers, "webhook-signature": f"v1,bm90aGluZw== {first}"}, secret)
    now = int(time.time())
    wrong = {
        "another body": (body + " ", headers, secret),
        "another secret": (body, headers, "whsec_" + "QUFB" * 8),
        "an empty secret": (body, headers, ""),
        "a secret that is none": (body, headers, "whsec_é"),
        "another signature": (body, {**headers, "webhook-signature": "v1,bm90aGluZw== v1,é v2,x"}, secret),
        "another id": (body, {**headers, "webhook-id": "evt_other"}, secret),
        "an old one": (body, {**headers, "webhook-timestamp": str(now - 301)}, secret),
        "one of the future": (body, {**headers, "webhook-timestamp": str(now + 301)}, secret),
        "no time": (body, {**headers, "webhook-timestamp": "9" * 5000}, secret),
        "no headers": (body, {}, secret),
    }
    for name, arguments in wrong.items():
        try:
            verify(*arguments)
            raise SystemExit(f"{name} was accepted")
        except WebhookVerificationError as error:
            assert str(error), name
    print("done")
