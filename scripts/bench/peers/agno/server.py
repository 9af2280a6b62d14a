"""AgentOS with an agent per model of the benchmark. It prints its address before it listens."""

import json
import os

from agno.agent import Agent
from agno.db.sqlite import SqliteDb
from agno.models.openai.like import OpenAILike
from agno.os import AgentOS

port = int(os.environ["PEER_PORT"])
print(json.dumps({"url": f"http://127.0.0.1:{port}"}), flush=True)

db = SqliteDb(db_file=os.path.join(os.environ["PEER_FOLDER"], "agno.db"))
agents = [
    Agent(
        id=name,
        name=name,
        model=OpenAILike(id=name, api_key="none", base_url=os.environ["PEER_MODEL_URL"]),
        instructions="Be quick.",
        db=db,
        telemetry=False,
    )
    for name in os.environ["PEER_MODELS"].split(",")
]
agent_os = AgentOS(agents=agents, telemetry=False)
app = agent_os.get_app()

if __name__ == "__main__":
    agent_os.serve(app=app, host="127.0.0.1", port=port, log_level="warning")
