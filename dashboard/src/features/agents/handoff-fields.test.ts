import { expect, test } from "bun:test";
import { filterOf, kindOfFilter, parseHandoffs } from "./handoff-fields.ts";

test("handoffs are read as ids and as objects, and anything else stays JSON", () => {
  expect(parseHandoffs(["agt_1", { agent_id: "agt_2", filter: { messages: 5 } }])).toEqual([
    { agent_id: "agt_1" },
    { agent_id: "agt_2", filter: { messages: 5 } },
  ]);
  for (const odd of [{}, [1], [{}], "agt_1", [null]]) expect(parseHandoffs(odd)).toBeNull();
});

test("each kind of filter that can be chosen is shown as chosen", () => {
  for (const kind of ["all", "last_message", "no_tool_calls", "messages"] as const)
    expect(kindOfFilter(filterOf(kind))).toBe(kind);
});
