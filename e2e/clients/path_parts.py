"""Calls operations with values in their path that lead to another address, and with such as only look like it."""

import json
import os
from functools import reduce

from runnel_sdk import AsyncRunnel, RunnelError


async def perform(runnel, call):
    its = call["python"]
    returned = reduce(getattr, its["path"], runnel)(*its["args"], **its["named"])
    await (returned.first_page() if its["isList"] else returned)


async def main():
    with open(os.environ["CALLS"]) as file:
        calls = json.load(file)
    async with AsyncRunnel() as runnel:
        for call in calls["refused"]:
            try:
                await perform(runnel, call)
            except RunnelError as error:
                assert "which no id or name can be" in str(error), error
            else:
                raise AssertionError(f"{call['id']} was sent with {call['python']['args']}")
        for call in calls["sent"]:
            await perform(runnel, call)
    print("done")
