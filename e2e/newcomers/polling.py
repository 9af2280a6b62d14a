import time

from runnel_sdk import Runnel

runnel = Runnel()
agent = runnel.agents.sync("polling", instructions="Be brief.", model="test/echo").agent
run = runnel.runs.create(agent_id=agent.id, input="Hello")
while run.status in ("queued", "in_progress"):
    time.sleep(0.05)
    run = runnel.runs.retrieve(run.id)
if run.error is not None:
    raise RuntimeError(run.error.message)
print(run.status, run.output, len(run.tool_calls))
