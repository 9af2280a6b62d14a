import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rows, type Things, table } from "../testing/door-rows.ts";
import { type Answer, createVisits, expectDialect, made, unlimited } from "../testing/door-visits.ts";
import { type Client, testApp } from "../testing/test-app.ts";

// Requests that no client of a protocol sends.

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());
const { ask, open, thingsOf } = createVisits(server);
let owner: Client;
let ownThings: Things;
beforeAll(async () => {
  owner = await server.client({ project: "owner" });
  await server.projects.update(owner.scope.project_id, { limits: unlimited });
  ownThings = await thingsOf(owner);
});

const spoken = rows
  .map(([name]) => name)
  .filter((name) => name.startsWith("POST ") && name !== "POST /openai/v1/files"); // Its body is not JSON.

/** Values of unexpected types. A lone surrogate cannot be part of an address. */
const odd: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e300,
  Number.MAX_SAFE_INTEGER,
  "",
  " ",
  "x",
  "\u0000",
  "\ud800",
  "../..",
  "%",
  "%ff",
  "a".repeat(20_000),
  "𝕏\n\r\t",
  [],
  [[]],
  {},
  [null],
  { x: 1 },
  ["x", 1],
  { constructor: "x", toString: 1 },
];

/** Returns random integers from 0 to below `below`, the same in each test run. */
function createChance(seed: number) {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
type Chance = ReturnType<typeof createChance>;

/** Returns a copy of a value with one change at any depth: a replaced, removed or added value. */
function bent(value: unknown, chance: Chance): unknown {
  const keys = typeof value === "object" && value !== null ? Object.keys(value) : [];
  if (keys.length === 0 || chance(4) === 0) return odd[chance(odd.length)];
  const key = keys[chance(keys.length)]!;
  const copy: Record<string, unknown> = Array.isArray(value) ? ([...value] as never) : { ...(value as object) };
  const kind = chance(6);
  if (kind === 0) delete copy[key];
  else if (kind === 1) copy[`${key}x`] = odd[chance(odd.length)];
  else if (kind === 2) copy[key] = [copy[key], copy[key]];
  else copy[key] = bent(copy[key], chance);
  return copy;
}

/** Checks the response to a nonsensical request: a success, or an error in the protocol's format. */
function expectUnharmed(name: string, sent: unknown, { status, headers, text }: Answer): void {
  const shown = { name, sent: JSON.stringify(sent)?.slice(0, 500), status, text: text.slice(0, 300) };
  expect({ ...shown, isFault: status >= 500 }).toEqual({ ...shown, isFault: false });
  if (text === "" && status < 300) return; // A stream, or a notification that gets no response.
  expect(headers.get("content-type")).toMatch(/^application\/(a2a\+)?json/);
  if (status >= 400 || JSON.parse(text).error) expectDialect(name, { status, headers, text });
}

describe("nonsense", () => {
  test.each(spoken)("at %s is answered, or refused in the words of the door", async (name) => {
    const chance = createChance(spoken.indexOf(name) + 1);
    const { names, send } = table[name]!;
    const things = await thingsOf(owner, "ada", names);
    const [, path = ""] = name.split(" ");
    for (let i = 0; i < 20; i++) {
      // Runs of one thread would wait for each other.
      if (names.includes("thread")) things.thread = (await made(owner, "/v1/threads", { user_id: "ada" })).id;
      if (names.includes("session")) things.session = await open(owner.key.secret, path);
      const sent = send(things);
      const body = Array.from({ length: 1 + chance(2) }).reduce((value) => bent(value, chance), sent.body ?? {});
      const header = Object.keys(sent.headers ?? {})[chance(4)];
      const headers = { ...sent.headers, ...(header && { [header]: ["", "x", "2026-07-28", "%"][chance(4)]! }) };
      expectUnharmed(name, { body, headers }, await ask(owner.key.secret, "POST", { ...sent, body, headers }));
    }
  });

  const request = (body: string) => `{"jsonrpc": "2.0", "id": 1, "method": ${body}}`;
  const bodies: [what: string, body: string | Uint8Array][] = [
    ["nothing", ""],
    ["no JSON", "{"],
    ["bytes that are no text", new Uint8Array([0x22, 0xff, 0xfe, 0x22])],
    ["null", "null"],
    ["a number", "1"],
    ["a text", '"initialize"'],
    ["no message", "{}"],
    ["an empty batch", "[]"],
    ["a batch", `[${request('"ping"')}, ${request('"GetTask"')}]`],
    ["a batch of a thousand", `[${Array(1000).fill(request('"ping"')).join(",")}]`],
    ["another version", '{"jsonrpc": "1.0", "id": 1, "method": "ping"}'],
    ["an id that is an object", '{"jsonrpc": "2.0", "id": {}, "method": "ping"}'],
    ["a method that nobody knows", request('"nobody/knows"')],
    ["a method that every object has", request('"constructor"')],
    ["a method that every object has, as A2A writes names", request('"ToString"')],
    ["a method that is a list", request('["ping"]')],
    ["params that are a text", request('"tools/call", "params": "x"')],
    ["params that are a list", request('"GetTask", "params": [1]')],
    ["a forbidden key", request('"tools/list", "params": {"__proto__": {"x": 1}}')],
    ["a key twice", request('"tools/list", "params": {"x": 1, "x": 2}')],
    ["a number without end", request('"tools/list", "params": {"x": 1e999}')],
    ["what nests deep", request(`"tools/list", "params": {"x": ${"[".repeat(50_000)}${"]".repeat(50_000)}}`)],
    ["what is too long", request(`"tools/list", "params": {"x": "${"x".repeat(2_000_000)}"}`)],
  ];
  const addresses = ["POST /mcp", "POST /mcp/admin", "POST /a2a/v1/agents/:id", "POST /a2a/v1/agents/:id/*"];

  test.each(addresses.flatMap((address) => bodies.map(([what, body]) => [address, what, body] as const)))(
    "at %s, %s is refused in the words of the door",
    async (address, _what, body) => {
      const [, pattern = ""] = address.split(" ");
      const path = pattern.replace(":id", ownThings.agent).replace("*", "message:send");
      const session = await open(owner.key.secret, pattern);
      const response = await server.app.handle(
        new Request(`http://localhost${path}`, {
          method: "POST",
          body,
          headers: {
            authorization: `Bearer ${owner.key.secret}`,
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            "mcp-session-id": session,
          },
        }),
      );
      const answer = { status: response.status, headers: response.headers, text: await response.text() };
      expect(answer.status).toBeLessThan(500);
      expectDialect(address, answer);
    },
  );
});
