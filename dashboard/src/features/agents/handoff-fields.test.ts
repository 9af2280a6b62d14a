import { expect, test } from "bun:test";
import { filterOf, kindOfFilter, parseHandoffs, textOfVersion, withVersion } from "./handoff-fields.ts";

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

test("a number is the version of a handoff, a word its label, and nothing the newest", () => {
  const handoff = { agent_id: "agt_1", version: 2 };
  expect(textOfVersion(handoff)).toBe("2");
  expect(withVersion(handoff, "production")).toEqual({ agent_id: "agt_1", label: "production" });
  expect(withVersion({ agent_id: "agt_1", label: "production" }, " 3 ")).toEqual({ agent_id: "agt_1", version: 3 });
  expect(withVersion(handoff, "")).toEqual({ agent_id: "agt_1" });
  expect(textOfVersion({ agent_id: "agt_1" })).toBe("");
});
