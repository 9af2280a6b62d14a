"""OpenAI's own client: responses in all their forms, and conversations."""

import json
import os

from openai import NotFoundError, OpenAI
from pydantic import BaseModel

client = OpenAI(base_url=os.environ["RUNNEL_URL"] + "/openai/v1", api_key=os.environ["RUNNEL_API_KEY"])
agents = json.loads(os.environ["AGENTS"])
tools = [{"type": "function", "name": "look", "strict": False, "parameters": {"type": "object", "properties": {}}}]


class Place(BaseModel):
    place: str


first = client.responses.create(model=agents["echo"], input="Hello!")
assert first.output_text == "Hello!" and first.status == "completed" and first.usage.total_tokens > 0
second = client.responses.create(model=agents["echo"], input="Again!", previous_response_id=first.id)
assert [second.output_text, second.previous_response_id] == ["Again!", first.id]

with client.responses.stream(model=agents["echo"], input="One two.") as stream:
    said = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
    assert said == stream.get_final_response().output_text == "One two."

assert client.responses.parse(model=agents["json"], input="?", text_format=Place).output_parsed == Place(place="Oslo")

asking = client.responses.create(model=agents["look"], input="Oslo?", tools=tools)
call = asking.output[-1]
result = {"type": "function_call_output", "call_id": call.call_id, "output": "Wet."}
answer = client.responses.create(model=agents["look"], previous_response_id=asking.id, input=[result], tools=tools)
assert [call.name, json.loads(call.arguments), answer.output_text] == ["look", {"at": "Oslo"}, "Rain."]
assert [item.type for item in client.responses.input_items.list(answer.id)] == ["function_call_output"]

background = client.responses.create(model=agents["slow"], input="?", background=True)
seen, text = -1, ""
for event in client.responses.retrieve(background.id, stream=True):
    seen = event.sequence_number
    text += event.delta if event.type == "response.output_text.delta" else ""
    if len(text) > 6:
        break
for event in client.responses.retrieve(background.id, stream=True, starting_after=seen):
    assert event.sequence_number > seen
    text += event.delta if event.type == "response.output_text.delta" else ""
assert text == client.responses.retrieve(background.id).output_text

waiting = client.responses.create(model=agents["endless"], input="?", background=True)
assert client.responses.cancel(waiting.id).status == "cancelled"
client.responses.delete(waiting.id)
try:
    client.responses.retrieve(waiting.id)
    raise AssertionError("It is still there.")
except NotFoundError:
    pass

items = [{"type": "message", "role": "user", "content": "I am Ada."}]
conversation = client.conversations.create(metadata={"a": "b"}, items=items)
client.responses.create(model=agents["echo"], input="Hi!", conversation=conversation.id)
assert len(list(client.conversations.items.list(conversation.id, order="asc", limit=1))) == 3
added = client.conversations.items.create(conversation.id, items=items).data[0]
found = client.conversations.items.retrieve(added.id, conversation_id=conversation.id)
assert found.content[0].text == "I am Ada."
assert client.conversations.update(conversation.id, metadata={"c": "d"}).metadata == {"c": "d"}
assert client.conversations.delete(conversation.id).deleted
print("done")
