"""OpenAI's Agents SDK, by responses as it does itself: streams, tools, handoffs, sessions."""

import asyncio
import json
import os

from agents import Agent, OpenAIConversationsSession, Runner, function_tool, set_default_openai_client, set_tracing_disabled
from openai import AsyncOpenAI

set_tracing_disabled(True)
set_default_openai_client(
    AsyncOpenAI(base_url=os.environ["RUNNEL_URL"] + "/openai/v1", api_key=os.environ["RUNNEL_API_KEY"])
)
agents = json.loads(os.environ["AGENTS"])


@function_tool
def look(at: str) -> str:
    """Looks at a place."""
    return f"{at} is wet."


async def main() -> None:
    looking = Agent(name="looking", model=agents["look"], tools=[look])
    assert (await Runner.run(looking, "Oslo?")).final_output == "Rain."
    assert (await Runner.run(looking, "Oslo?", auto_previous_response_id=True)).final_output == "Rain."
    streamed = Runner.run_streamed(looking, "Oslo?")
    said = ""
    async for event in streamed.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            said += event.data.delta
    assert [said, streamed.final_output] == ["I look.Rain.", "Rain."]
    echo = Agent(name="echo", model=agents["echo"])
    handed = await Runner.run(Agent(name="first", model=agents["handoff"], handoffs=[echo]), "Hello!")
    assert [handed.last_agent.name, handed.final_output] == ["echo", "Hello!"]
    session = OpenAIConversationsSession()
    await Runner.run(looking, "Oslo?", session=session)
    assert (await Runner.run(echo, "Thanks.", session=session)).final_output == "Thanks."
    kinds = [item.get("type") for item in await session.get_items()]
    assert kinds.count("function_call") == kinds.count("function_call_output") == 1, kinds
    print("done")


asyncio.run(main())
