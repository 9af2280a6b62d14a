# What a type checker has to understand. Lines that it must refuse say so, and --warn-unused-ignores sees that it does.
from typing import Any, List, Optional, TypedDict

from runnel_sdk import ActionRequiredError, APIError, AsyncRunnel, NotFoundError, Runnel, Tool, tool, types


class Ticket(TypedDict):
    topic: str
    urgent: bool


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return city


@tool(name="time")
def time_of(city: str) -> str:
    """The time in a city."""
    return city


def main(runnel: Runnel) -> Optional[str]:
    agent: types.Agent = runnel.agents.create(
        name="Clerk",
        instructions="Be brief.",
        model="test/echo",
        budget={"max_cost_usd": 1},
        model_settings={"temperature": 0.5},
        guardrails=[{"type": "pii", "on": ["input"], "action": "block"}],
    )
    agent.colour  # type: ignore[attr-defined]
    runnel.agents.create(name="Clerk", instructions="", model="test/echo", colour="red")  # type: ignore[call-arg]
    runnel.agents.create(name=1, instructions="", model="test/echo")  # type: ignore[arg-type]
    runnel.runs.list(status="done")  # type: ignore[arg-type]
    for item in runnel.agents.list(limit=10):
        name: str = item.name
        print(name)
    has_more: bool = runnel.runs.list().first_page().has_more
    run = runnel.runs.run(agent, "Hello", tools={"weather": lambda city: "clear"})
    made: Tool = time_of
    try:
        run = runnel.runs.run(agent, "Hello", tools=[weather, made, main])
        runnel.runs.stream(agent_id=agent.id, input="Hello", tools=[weather, {"type": "client", "name": "clock"}])
        runnel.runs.run(agent, "Hello", tools=["weather"])  # type: ignore[list-item]
    except ActionRequiredError as error:
        print(error.run_id)
    ticket = runnel.runs.run(agent, "Hello", schema=Ticket).output_json
    urgent: bool = ticket["urgent"]
    ticket["colour"]  # type: ignore[typeddict-item]
    listed: List[Ticket] = runnel.runs.run(agent, "Hello", schema=List[Ticket]).output_json
    anything: Any = runnel.runs.run(agent, "Hello", schema={"type": "object"}).output_json
    runnel.runs.run(agent, "Hello", schema="object")  # type: ignore[call-overload]
    print(urgent, listed, anything)
    output: Optional[str] = run.output
    run.output + "!"  # type: ignore[operator]
    steps: int = len(runnel.traces.retrieve(run.id, include="raw").steps)
    spans = runnel.traces.retrieve(run.id, format="otlp").resourceSpans
    runnel.traces.retrieve(run.id, format="pdf")  # type: ignore[call-overload]
    imported: str = runnel.traces.import_(b"", idempotency_key="once").id
    runnel.memory.keys.set("mem_1", "language", value="no", scope_id="user-1", if_match=3)
    callback: str = runnel.tools.verify(b"", {}, ["whsec_1", "whsec_2"]).callback_url
    print(steps, spans, imported, callback)
    told = runnel.webhooks.verify(b"", {}, "whsec_1")
    if told.type == "run.completed":
        said: Optional[str] = told.data.object.output
        print(said)
    elif told.type == "file.ready":
        filename: str = told.data.object.filename
        told.data.object.output  # type: ignore[attr-defined]
        print(filename)
    content: bytes = runnel.files.content("file_1")
    try:
        with runnel.runs.stream(agent_id=agent.id, input="Hello") as stream:
            for event in stream:
                if event.event == "token":
                    delta: str = event.data.delta
                    print(delta)
                elif event.event == "run.requires_action":
                    print(event.data.required_action.submit_tool_outputs.tool_calls[0].name)
    except NotFoundError as error:
        print(error.request_id)
    except APIError as error:
        print(error.code, has_more, content)
    return output


async def wait(runnel: AsyncRunnel) -> None:
    async with runnel:
        async for item in runnel.agents.list():
            print(item.id)
        run: types.Run = await runnel.runs.create(agent_id="agt_1", input=[{"role": "user", "content": "Hello"}])
        topic: str = (await runnel.runs.run("agt_1", "Hello", schema=Ticket)).output_json["topic"]
        print(topic)
        async for event in runnel.runs.follow(run.id):
            print(event.id)
