"""Calls every operation with all that it takes, and looks at what its result is said to be."""

import json
import os
from functools import reduce

from runnel_sdk import AsyncRunnel


async def main():
    with open(os.environ["CALLS"]) as file:
        calls = json.load(file)
    async with AsyncRunnel() as runnel:
        for call in calls:
            its = call["python"]
            method = reduce(getattr, its["path"], runnel)
            returned = method(*its["args"], **its["named"])
            await (returned.first_page() if its["isList"] else returned)
            result = method.__annotations__["return"]
            assert "Any" not in result, f"{call['id']} returns {result}"
    print("done")
