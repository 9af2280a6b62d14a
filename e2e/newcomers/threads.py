import json

from runnel_sdk import Runnel

runnel = Runnel()
agent = runnel.agents.sync("threads", instructions="", model="test/echo").agent
thread = runnel.threads.create(user_id="ada", metadata={"topic": "cake"})
for text in ("Hello", "And again"):
    runnel.runs.run(agent, text, thread_id=thread.id, if_thread_busy="queue")
for message in runnel.threads.messages.list(thread.id, order="asc"):
    print(message.role, json.dumps(message.content))
runnel.threads.delete(thread.id)
