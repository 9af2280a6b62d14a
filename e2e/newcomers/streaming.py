import asyncio

from runnel_sdk import AsyncRunnel


async def main() -> None:
    async with AsyncRunnel() as runnel:
        agent = (await runnel.agents.sync("streaming", instructions="Be brief.", model="test/echo")).agent
        text = ""
        async for event in runnel.runs.stream(agent_id=agent.id, input="Hello you"):
            if event.event == "token":
                text += event.data.delta
            elif event.event == "run.failed":
                raise RuntimeError(event.data.error.message)
            elif event.event == "run.completed":
                print(event.data.usage.total_tokens != 0)
        print(text)


asyncio.run(main())
