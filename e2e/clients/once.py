# One run with a tool that says in a file that it was called.
import os

from runnel_sdk import AsyncRunnel


def weather(city):
    with open(os.environ["CALLED"], "a") as called:
        called.write(f"{city}\n")
    return "clear"


async def main():
    async with AsyncRunnel() as runnel:
        run = await runnel.runs.run(os.environ["AGENT"], "Go", tools={os.environ["TOOL"]: weather})
        print(run.status, run.output)
