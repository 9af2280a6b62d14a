# Runs agents with tools of every kind. The script of the agent says what is called.
import os

import runnel_sdk as library
from runnel_sdk import AsyncRunnel

calls = []


def weather(city):
    calls.append(("weather", city))
    return {"city": city, "sky": "clear"}


def broken(city):
    calls.append(("broken", city))
    raise ValueError(f"No station in {city}.")


def not_json(city):
    return object()


async def main():
    async with AsyncRunnel() as runnel:
        names = {}
        for tool in [weather, broken, not_json]:
            schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
            name = f"{tool.__name__}_{os.getpid()}"
            made = await runnel.tools.create(name=name, description="Tells the weather.", parameters=schema)
            names[tool.__name__] = (name, made.id)

        async def agent(*turns, **more):
            script = [
                {"tool_calls": [{"name": names[tool][0], "arguments": {"city": city}} for tool, city in turn]}
                for turn in turns
            ]
            return await runnel.agents.create(
                name="Forecaster",
                instructions="Tell the weather.",
                model="test/script",
                model_settings={"script": [*script, {"text": "It is clear."}]},
                tools=[id for _, id in names.values()],
                **more,
            )

        tools = {names["weather"][0]: weather, names["broken"][0]: broken, names["not_json"][0]: not_json}

        # Several calls at once, one of them fails, and again in the next turn.
        seen = []
        one = await agent([("weather", "Oslo"), ("broken", "Rome"), ("weather", "Bern")], [("not_json", "Graz")])
        run = await runnel.runs.run(
            one, "How is the weather?", tools=tools, on_event=lambda event: seen.append(event.event), metadata={"a": "b"}
        )
        assert run.status == "completed" and run.output == "It is clear." and run.metadata == {"a": "b"}, run
        assert sorted(calls) == [("broken", "Rome"), ("weather", "Bern"), ("weather", "Oslo")], calls
        assert seen[0] == "run.created" and seen[-1] == "run.completed" and seen.count("run.requires_action") == 2, seen
        outputs = {(call.name, call.arguments.city): (call.status, call.output, call.error) for call in run.tool_calls}
        assert outputs[names["weather"][0], "Oslo"][1] == {"city": "Oslo", "sky": "clear"}, outputs
        assert "No station in Rome." in str(outputs[names["broken"][0], "Rome"]), outputs
        assert "JSON serializable" in str(outputs[names["not_json"][0], "Graz"]), outputs

        # A missing one is the caller's fault, and nothing is called.
        calls.clear()
        two = await agent([("weather", "Oslo"), ("broken", "Rome")])
        try:
            await runnel.runs.run(two.id, "How is the weather?", tools={names["weather"][0]: weather})
            raise SystemExit("a tool that there is not was called")
        except library.RunnelError as error:
            assert names["broken"][0] in str(error)
        assert calls == []

        await asynchronous(runnel, two, tools)
        await decided(runnel)

        # A run that fails is an error.
        three = await agent([("weather", "Oslo")], max_turns=1)
        try:
            await runnel.runs.run(three.id, "How is the weather?", tools=tools)
            raise SystemExit("a run that failed was returned")
        except library.RunFailedError as error:
            assert error.run.status == "failed" and error.run.error.message in str(error), error

        # Whoever stops early closes the stream; going on with it later is no error.
        four = await agent()
        async with runnel.runs.stream(agent_id=four.id, input="Hello") as stream:
            async for event in stream:
                break
        assert event.event == "run.created" and stream.run_id
        followed = runnel.runs.follow(stream.run_id)
        assert "".join([piece async for piece in followed.text_deltas()]) == followed.text == "It is clear."
    print("done")


async def decided(runnel):
    """A call that needs an approval; the tool is the server's own."""
    schema = {"type": "object", "properties": {}}
    tool = await runnel.tools.create(
        name=f"pay_{os.getpid()}",
        description="Pays.",
        type="code",
        language="javascript",
        source="return {paid: true}",
        parameters=schema,
        approval="always",
    )
    script = [{"tool_calls": [{"name": tool.name, "arguments": {}}]}, {"text": "Thank you."}]
    agent = await runnel.agents.create(
        name="Clerk", instructions="Pay.", model="test/script", model_settings={"script": script}, tools=[tool.id]
    )
    asked = []

    def decide(call):
        asked.append((call.name, call.needs))
        return {"decision": "reject", "reason": "Too much."}

    run = await runnel.runs.run(agent, "Pay.", decide=decide)
    assert run.status == "completed" and asked == [(tool.name, "approval")], (run, asked)
    assert run.tool_calls[0].status == "rejected", run.tool_calls
    try:
        await runnel.runs.run(agent, "Pay.")
        raise SystemExit("nobody decided")
    except library.RunnelError as error:
        assert "decide" in str(error)
