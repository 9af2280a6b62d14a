import { expect, test } from "bun:test";
import { draftOf, filterFault, orderOf } from "./trigger-draft.ts";

test("an empty form asks for the defaults, and an unchosen agent is the first one", () => {
  expect(orderOf({ ...draftOf(), name: " Issues " }, "agt_1")).toEqual({
    name: "Issues",
    agent_id: "agt_1",
    verification: "github",
    input: null,
    filter: [],
    thread: null,
    user: null,
  });
});

test("a header is only sent with a shared secret", () => {
  const draft = { ...draftOf(), verification: "shared_secret" as const, secret_header: "X-Token", dedupe: "body.id" };
  expect(orderOf(draft, "agt_1")).toMatchObject({ secret_header: "X-Token", dedupe: "body.id" });
});

test("a version or a label that is chosen is sent, and neither for the newest version", () => {
  expect(orderOf({ ...draftOf(), choice: "@production" }, "agt_1")).toMatchObject({ label: "production" });
  expect(orderOf({ ...draftOf(), choice: "3" }, "agt_1")).toMatchObject({ version: 3 });
  expect(Object.keys(orderOf(draftOf(), "agt_1"))).not.toContain("version");
});

test("a filter is a list of conditions in JSON", () => {
  const read = (text: string) => {
    try {
      return { value: JSON.parse(text) };
    } catch {
      return { fault: "This is not JSON." };
    }
  };
  expect([filterFault("", read), filterFault("[]", read)]).toEqual([null, null]);
  expect(filterFault("{}", read)).toBe("Must be a list of conditions.");
  expect(filterFault("{", read)).toBe("This is not JSON.");
  const filter = [{ path: "body.action", in: ["opened"] }];
  expect(orderOf({ ...draftOf(), filter: JSON.stringify(filter) }, "agt_1").filter).toEqual(filter);
});

test("variables are templates or values of their types, and none is sent while the agent's are unknown", () => {
  const declared = [
    { name: "customer", type: "string" },
    { name: "days", type: "integer" },
    { name: "amount", type: "number" },
    { name: "vip", type: "boolean" },
  ] as const;
  const values = { customer: "7", days: "14", amount: "{{body.amount}}", vip: "", gone: "x" };
  const draft = { ...draftOf(), values };
  expect(orderOf(draft, "agt_1", declared).variables).toEqual({ customer: "7", days: 14, amount: "{{body.amount}}" });
  expect(orderOf(draft, "agt_1")).not.toHaveProperty("variables");
  // An agent without variables takes none, and one that never had any is not told.
  expect(orderOf(draft, "agt_1", []).variables).toBeNull();
  expect(orderOf(draftOf(), "agt_1", [])).not.toHaveProperty("variables");
  expect(orderOf(draftOf(), "agt_1", declared).variables).toBeUndefined();
});
