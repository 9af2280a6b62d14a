from typing import Any, Dict, List

from runnel_sdk import Runnel, types

runnel = Runnel()
pay = runnel.tools.sync(
    "pay",
    type="client",
    description="Pays a bill.",
    parameters={"type": "object", "properties": {"amount": {"type": "number"}}},
    approval="always",
).tool
agent = runnel.agents.sync(
    "approvals",
    instructions="",
    model="test/script",
    model_settings={"script": [{"tool_calls": [{"name": "pay", "arguments": {"amount": 9}}]}, {"text": "Paid."}]},
    tools=[pay.id],
).agent


def decide(call: Any) -> Dict[str, str]:
    if call.arguments["amount"] < 10:
        return {"decision": "approve"}
    return {"decision": "reject", "reason": "Too much."}


def pay_bill(amount: float) -> Dict[str, float]:
    return {"paid": amount}


run = runnel.runs.run(agent, "Pay.", tools={"pay": pay_bill}, decide=decide)
print(run.output)

waiting = runnel.runs.create(agent_id=agent.id, input="Pay.", wait=30)
asked = waiting.required_action.submit_tool_outputs.tool_calls if waiting.required_action else []
answers: List[types.ToolOutputParam] = [
    {"tool_call_id": call.tool_call_id, "decision": "reject", "reason": "Not today."} for call in asked
]
runnel.runs.submit_tool_outputs(waiting.id, tool_outputs=answers)
print(",".join(call.needs for call in asked))
