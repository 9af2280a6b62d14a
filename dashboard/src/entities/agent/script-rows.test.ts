import { expect, test } from "bun:test";
import { scriptEntries, withField } from "./script-rows.ts";

test("a script is shown as fields if they can show all of it", () => {
  const script = [
    { text: "Let me look.", tool_calls: [{ name: "find", arguments: { id: 1 } }], delay_ms: 20 },
    { reasoning: "Hm.", error: "The model is away.", delta_ms: 3 },
    {},
  ];
  expect(scriptEntries(script)).toEqual(script);
  for (const odd of [{ novel: 1 }, { text: 1 }, { tool_calls: [{ name: "a" }] }, { tool_calls: {} }, null, "text"])
    expect([odd, scriptEntries([...script, odd])]).toEqual([odd, null]);
  expect(scriptEntries({})).toBeNull();
});

test("emptied fields are left out and the others stay", () => {
  expect(withField({ text: "a", delay_ms: 1 }, "text", "")).toEqual({ delay_ms: 1 });
  expect(withField({ text: "a" }, "tool_calls", [])).toEqual({ text: "a" });
  expect(withField({ text: "a" }, "delay_ms", 5)).toEqual({ text: "a", delay_ms: 5 });
});
