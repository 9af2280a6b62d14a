import { expect, test } from "bun:test";
import { longJson } from "./long-json.ts";
import { withRequestId } from "./response.ts";

const headers = { "x-request-id": "req_1" };

test("a long body is, byte for byte, what it would be if it were written at once", async () => {
  const list = Array.from({ length: 3000 }, (_, index) => ({ index, text: `é\n${"x".repeat(100)}` }));
  for (const [first, second] of [
    [list, []],
    [[], list],
    [[1], [null]],
  ] as const) {
    const body = { id: "a", first, absent: undefined, second, last: { nested: [1] } };
    const fields = { ...body, first: [], second: [] };
    const response = await longJson({ fields, lists: { first: first.values(), second: second.values() } }, { headers });
    expect(await response.text()).toBe(withRequestId(body, "req_1"));
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("cache-control")).toBe("no-store");
  }
});

test("a list that was left out of the fields is left out, and the status is the one asked for", async () => {
  const response = await longJson({ fields: { id: "a" }, lists: { first: [1] } }, { status: 201, headers });
  expect([response.status, await response.json()]).toEqual([201, { id: "a", request_id: "req_1" }]);
});
