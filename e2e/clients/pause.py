# Steers and pauses a run while it is read, resumes it, and reads it again from each place.
from runnel_sdk import AsyncRunnel, RunnelError

WORDS = " ".join(str(number) for number in range(60))


def pieces(events):
    """The journal's events, and the text: its division may differ from reader to reader."""
    return (
        [int(event.id.split(".")[0]) for event in events if event.event != "token"],
        "".join(event.data.delta for event in events if event.event == "token"),
    )


async def main():
    async with AsyncRunnel() as runnel:
        agent = await runnel.agents.create(
            name="Clerk",
            instructions="",
            model="test/script",
            model_settings={"script": [{"text": WORDS, "delta_ms": 25}, {"text": "Done."}]},
        )
        events = []
        stream = runnel.runs.stream(agent_id=agent.id, input="Go")
        async for event in stream:
            events.append(event)
            if event.event == "token" and sum(one.event == "token" for one in events) == 5:
                await runnel.runs.steer(stream.run_id, role="user", content="More.")
                await runnel.runs.pause(stream.run_id)
            if event.event == "run.paused":
                assert (await runnel.runs.retrieve(stream.run_id)).status == "paused"
                await runnel.runs.resume(stream.run_id)
        names = [event.event for event in events if event.event.startswith("run.")]
        told = ["run.created", "run.steered", "run.pause_requested", "run.paused", "run.resumed", "run.completed"]
        assert [name for name in names if name in told] == told, names
        assert stream.text == "Done.", stream.text
        place = next(at for at, event in enumerate(events) if event.event == "run.steered")
        assert events[place].data.content == "More.", events[place]
        for at in [place - 1, place, place + 2, len(events) - 3]:
            read = []
            async for event in runnel.runs.follow(stream.run_id, last_event_id=events[at].id):
                read.append(event)
            assert pieces(read) == pieces(events[at + 1 :]), (at, read)

        # Runs an agent whose run is paused before its call is answered.
        tool = await runnel.tools.create(name="look", parameters={"type": "object"})
        script = [{"tool_calls": [{"name": "look", "arguments": {}}]}, {"text": "Seen."}]
        looking = await runnel.agents.create(
            name="Clerk", instructions="", model="test/script", model_settings={"script": script}, tools=[tool.id]
        )
        seen = []

        async def on_event(event):
            seen.append(event.event)
            if event.event == "run.requires_action":
                await runnel.runs.pause(event.data.run_id)
            if event.event == "run.paused":
                await runnel.runs.resume(event.data.run_id)

        run = await runnel.runs.run(looking, "Go", tools={"look": lambda: "blue"}, on_event=on_event)
        assert (run.status, run.output) == ("completed", "Seen."), run
        assert "run.paused" in seen and "run.resumed" in seen, seen

        # A message to a run that waits for a call: the call is answered, or named.
        thread = await runnel.threads.create()
        waiting = await runnel.runs.create(agent_id=looking.id, input="Go", thread_id=thread.id, wait=30)
        more = {"thread_id": thread.id, "if_thread_busy": "steer"}
        try:
            await runnel.runs.run(looking, "More.", **more)
            raise SystemExit("a call was left open")
        except RunnelError as error:
            assert "look" in str(error), error
        run = await runnel.runs.run(looking, "More.", tools={"look": lambda: "blue"}, **more)
        assert (run.id, run.output) == (waiting.id, "Seen."), run
        await runnel.agents.delete(looking.id)
        await runnel.tools.delete(tool.id)
        print("done")
