# Streams a run and prints each event in a line of JSON, at last the text that it joined.
import json
import os

from runnel_sdk import AsyncRunnel


async def main():
    async with AsyncRunnel() as runnel:
        given = json.loads(os.environ["STREAM"])
        follow = given.pop("follow", None)
        stream = runnel.runs.follow(follow, **given) if follow else runnel.runs.stream(**given)
        async for event in stream:
            print(json.dumps(event), flush=True)
        print(json.dumps({"run_id": stream.run_id, "text": stream.text}), flush=True)
