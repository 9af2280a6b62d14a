"""Meets each case of a server that is none, and says by a line of JSON what came of it."""

import json
import os

from runnel_sdk import AsyncRunnel


async def meet(case):
    async with AsyncRunnel(
        base_url=f"{os.environ['RUNNEL_URL']}/{case['name']}", timeout=case["timeoutMs"] / 1000, max_retries=1
    ) as runnel:
        if case["does"] == "request":
            await runnel.me.retrieve()
        elif case["does"] == "list":
            async for _ in runnel.agents.list():
                pass
        else:
            limits = {"patience": case["patienceMs"] / 1000, "timeout": case["silenceMs"] / 1000}
            stream = runnel.runs.stream(agent_id="agt_1", input="Hi", **limits)
            events = [event.event async for event in stream]
            assert stream.text in ("", "Hi"), stream.text
            return events
    return "nothing"


async def main():
    for case in json.loads(os.environ["CASES"]):
        try:
            became = await meet(case)
        except Exception as error:
            became = type(error).__name__ if type(error).__module__.startswith("runnel_sdk") else repr(error)
        print(json.dumps({"name": case["name"], "became": became}))
