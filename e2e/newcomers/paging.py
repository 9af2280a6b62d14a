import asyncio
from typing import List

from runnel_sdk import AsyncRunnel, Runnel

runnel = Runnel()
agent = runnel.agents.create(name="paging", instructions="", model="test/echo")
for text in ("one", "two", "three"):
    runnel.runs.run(agent.id, text, metadata={"input": text})


async def main() -> None:
    async with AsyncRunnel() as client:
        page = await client.runs.list(agent_id=agent.id, limit=2)
        print(len(page.data), page.has_more)
        outputs: List[str] = []
        async for run in client.runs.list(agent_id=agent.id, limit=2, order="asc"):
            if run.output is not None:
                outputs.append(run.output)
        print(",".join(outputs))


asyncio.run(main())
for first in runnel.runs.list(agent_id=agent.id):
    print(first.metadata["input"])
    break
