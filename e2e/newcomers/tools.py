from typing import Optional, TypedDict

from runnel_sdk import Runnel, tool


class Order(TypedDict):
    number: int
    status: str


@tool
def lookup(number: int, note: Optional[str] = None) -> Order:
    """Finds an order.

    Args:
        number: The number on the bill.
        note: A remark.
    """
    return {"number": number, "status": "shipped"}


runnel = Runnel()
synced = runnel.tools.sync([lookup])
result = runnel.agents.sync(
    "tools",
    instructions="Help.",
    model="test/script",
    model_settings={
        "script": [
            {"tool_calls": [{"name": "lookup", "arguments": {"number": 17}}]},
            {"text": "It is shipped."},
        ]
    },
    tools=[each.tool.id for each in synced],
)
run = runnel.runs.run(result.agent, "Where is it?", tools={"lookup": lookup})
print(result.outcome, run.tool_calls[0].status, run.output)
