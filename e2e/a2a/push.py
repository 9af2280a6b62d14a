import asyncio, json, os, threading, uuid
from http.server import BaseHTTPRequestHandler, HTTPServer
import httpx
from google.protobuf.json_format import ParseDict
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (
    AuthenticationInfo, DeleteTaskPushNotificationConfigRequest, GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest, Message, Part, Role, SendMessageConfiguration, SendMessageRequest,
    StreamResponse, TaskPushNotificationConfig, TaskState,
)

heard = []
class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        task = ParseDict(body, StreamResponse(), ignore_unknown_fields=False).task
        heard.append((self.path, self.headers["x-a2a-notification-token"], self.headers["authorization"], task))
        self.send_response(204)
        self.end_headers()
    def log_message(self, *_): pass

receiver = HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=receiver.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{receiver.server_port}"

async def until(path, state):
    while True:
        for at, token, authorization, task in heard:
            if at == path and task.status.state == state: return token, authorization, task
        await asyncio.sleep(0.02)

async def main():
    headers = {"authorization": f"Bearer {os.environ['RUNNEL_API_KEY']}"}
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        card = await A2ACardResolver(http, os.environ["A2A"]).get_agent_card()
        assert card.capabilities.push_notifications
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=False)).create(card)
        push = TaskPushNotificationConfig(id="first", url=f"{url}/first", token="t0ken",
            authentication=AuthenticationInfo(scheme="Bearer", credentials="s3cret"))
        def saying(text, **more):
            return Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)], **more)
        configuration = SendMessageConfiguration(task_push_notification_config=push, return_immediately=True)
        async for update in client.send_message(SendMessageRequest(message=saying("Go."), configuration=configuration)):
            task = update.task
        token, authorization, asked = await until("/first", TaskState.TASK_STATE_INPUT_REQUIRED)
        assert (token, authorization, asked.id) == ("t0ken", "Bearer s3cret", task.id)
        second = TaskPushNotificationConfig(id="second", task_id=task.id, url=f"{url}/second", token="other")
        await client.create_task_push_notification_config(second)
        read = await client.get_task_push_notification_config(
            GetTaskPushNotificationConfigRequest(task_id=task.id, id="second"))
        assert (read.url, read.token) == (second.url, second.token)
        await client.delete_task_push_notification_config(
            DeleteTaskPushNotificationConfigRequest(task_id=task.id, id="first"))
        left = await client.list_task_push_notification_configs(ListTaskPushNotificationConfigsRequest(task_id=task.id))
        assert [one.id for one in left.configs] == ["second"]
        async for _ in client.send_message(SendMessageRequest(message=saying("Sunny.", task_id=task.id))): pass
        token, _, done = await until("/second", TaskState.TASK_STATE_COMPLETED)
        assert token == "other"
        assert not [at for at, _, _, it in heard if at == "/first" and it.status.state == TaskState.TASK_STATE_COMPLETED]
        print(done.artifacts[0].parts[0].text)

asyncio.run(main())
