# The same in Python, whose client writes the slashes of a name as they are.
import json
import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["RUNNEL_URL"] + "/openai/v1", api_key=os.environ["RUNNEL_API_KEY"])
model = json.loads(os.environ["AGENTS"])["connected"]

assert [one.id for one in client.models.list()].count(model) == 1
assert client.models.retrieve(model).id == model
messages = [{"role": "user", "content": "Hello!"}]
text = "".join(
    chunk.choices[0].delta.content or ""
    for chunk in client.chat.completions.create(model=model, messages=messages, stream=True)
    if chunk.choices
)
assert text == "a stream that", text
print("done")
