import { expect, test } from "bun:test";
import { jsonParts, jsonStream, listBytes } from "./json-stream.ts";
import { withRequestId } from "./response.ts";

const headers = { "x-request-id": "req_1" };

test("a long body equals, byte for byte, one that is written at once", async () => {
  const list = Array.from({ length: 3000 }, (_, index) => ({ index, text: `é\n${"x".repeat(100)}` }));
  for (const [first, second] of [
    [list, []],
    [[], list],
    [[1], [null]],
  ] as const) {
    const body = { id: "a", first, absent: undefined, second, last: { nested: [1] } };
    const fields = { ...body, first: [], second: [] };
    const response = await jsonStream(
      { fields, lists: { first: first.values(), second: second.values() } },
      { headers },
    );
    expect(await response.text()).toBe(withRequestId(body, "req_1"));
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("cache-control")).toBe("no-store");
  }
});

test("a list missing from the fields is omitted, and the given status is used", async () => {
  const response = await jsonStream({ fields: { id: "a" }, lists: { first: [1] } }, { status: 201, headers });
  expect([response.status, await response.json()]).toEqual([201, { id: "a", request_id: "req_1" }]);
});

test("a list that was written before gives the same body as its items, for a response and for an export", async () => {
  const items = Array.from({ length: 3000 }, (_, index) => ({
    index,
    text: `é€\u{1f600}\ud800${"x".repeat(index % 70)}`,
  }));
  const fields = { id: "a", list: [], none: [], last: 1 };
  const lists = { list: await listBytes(items), none: await listBytes([]) };
  for (const all of [lists, { ...lists, list: items }]) {
    const response = await jsonStream({ fields, lists: all }, { headers });
    expect(await response.text()).toBe(withRequestId({ ...fields, list: items }, "req_1"));
  }
  expect([...jsonParts({ fields, lists })].join("")).toBe(JSON.stringify({ ...fields, list: items }));
});
