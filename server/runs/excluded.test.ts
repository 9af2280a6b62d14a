import { afterAll, beforeAll, expect, test } from "bun:test";
import { siblingId } from "../domain/ids.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

// Parts of a response that a client may exclude or shorten, for runs in every state.

let server: TestApp;
let client: Client;
const runs: Record<string, string> = {};

beforeAll(async () => {
  server = testApp();
  client = await server.client();
  const make = async (script: object[], more: object = {}, run: object = {}, wait = "?wait=60") => {
    const model = { name: "a", instructions: "Be brief.", model: "test/script", model_settings: { script } };
    const { id: agent_id } = (await client.post("/v1/agents", { ...model, ...more })).body;
    return (await client.post(`/v1/runs${wait}`, { agent_id, input: "Go.", ...run })).body.id as string;
  };
  const tool = (await client.post("/v1/tools", { name: "look", description: "Looks.", parameters: {}, type: "client" }))
    .body;
  const looks = { tool_calls: [{ name: "look", arguments: { at: "it" } }] };
  runs.completed = await make([{ reasoning: "Hm.", text: "Done." }]);
  runs.failed = await make([{ tool_calls: [{ name: "nobody", arguments: {} }] }], { max_turns: 1 });
  runs.requires_action = await make([looks, { text: "Seen." }], { tools: [tool.id] });
  runs.cancelled = await make([looks], { tools: [tool.id] });
  await client.post(`/v1/runs/${runs.cancelled}/cancel`);
  runs.in_progress = await make([{ text: "word ".repeat(200), delta_ms: 1000 }], {}, {}, "");
  const { id: thread_id } = (await client.post("/v1/threads", {})).body;
  await make([looks], { tools: [tool.id] }, { thread_id });
  runs.queued = await make([{ text: "Later." }], {}, { thread_id, if_thread_busy: "queue" }, "");
  runs.forgotten = await make([{ text: "Forgotten." }]);
  await client.delete(`/v1/traces/${siblingId(runs.forgotten, "trace")}`);
  const exported = (await client.get(`/v1/traces/${runs.completed}?include=raw`)).body;
  runs.imported = (await client.post("/v1/traces", exported)).body.run_id;
  runs.forked = (await client.post(`/v1/runs/${runs.completed}/fork?wait=60`, { step_index: -1 })).body.id;
  runs.replayed = (await client.post(`/v1/runs/${runs.completed}/replay`, {})).body.id;
});
afterAll(() => server[Symbol.asyncDispose]());

const states = [
  "completed",
  "failed",
  "requires_action",
  "cancelled",
  "in_progress",
  "queued",
  "forgotten",
  "imported",
  "forked",
  "replayed",
];
const lists = [["messages"], ["tool_calls"], ["messages", "tool_calls"], ["tool_calls", "messages"]];

test.each(states)("an exclusion removes its list and nothing else, for a run that is %s", async (state) => {
  const { request_id: _, ...whole } = (await client.get(`/v1/runs/${runs[state]}`)).body;
  expect(whole).toMatchObject({ object: "run", messages: expect.any(Array), tool_calls: expect.any(Array) });
  for (const left of lists) {
    const { status, body } = await client.get(`/v1/runs/${runs[state]}?exclude=${left.join("%2C")}`);
    const { request_id: __, ...shown } = body;
    const rest = Object.entries(whole).filter(([name]) => !left.includes(name));
    expect([status, shown]).toEqual([200, Object.fromEntries(rest)]);
  }
});

const bad = {
  exclude: [
    "",
    ",",
    "messages,",
    ",messages",
    "Messages",
    "message",
    " messages",
    "messages;tool_calls",
    "output",
    "*",
    "%00",
    "x".repeat(4000),
  ],
  frames: ["", "SLIM", "full,slim", " slim", "true", "0", "%00"],
  include: ["", "message", "messages,messages", "Messages", "%00"],
};

test.each(states)("invalid exclusions are rejected, for a run that is %s", async (state) => {
  const id = runs[state]!;
  const faults = async (path: string, name: string) => {
    const { status, body } = await client.get(path);
    expect([path, status, body.error?.code, body.error?.param]).toEqual([path, 400, "validation_failed", name]);
  };
  for (const value of bad.exclude) await faults(`/v1/runs/${id}?exclude=${value}`, "exclude");
  await faults(`/v1/runs/${id}?exclude=messages&exclude=tool_calls`, "exclude");
  if (state === "forgotten") return;
  for (const value of bad.frames) await faults(`/v1/runs/${id}/events?frames=${value}`, "frames");
  await faults(`/v1/runs/${id}/events?frames=slim&frames=full`, "frames");
});

test("invalid values of include are rejected", async () => {
  for (const value of bad.include) {
    const { status, body } = await client.get(`/v1/runs?include=${value}`);
    expect([value, status, body.error?.param]).toEqual([value, 400, "include"]);
  }
  expect((await client.get("/v1/runs?include=messages&include=messages")).status).toBe(400);
});

test("frames are validated before anything is done, even without a stream or if given twice", async () => {
  const { agent_id } = (await client.get(`/v1/runs/${runs.completed}`)).body;
  const count = async () => (await client.get("/v1/runs?limit=100")).body.data.length;
  const before = await count();
  for (const query of ["frames=", "frames=thin", "frames=slim&frames=slim"]) {
    const asked = [
      ["/v1/runs", { agent_id, input: "Go." }],
      ["/v1/runs", { agent_id, input: "Go.", stream: true }],
      [`/v1/runs/${runs.completed}/fork`, { step_index: -1 }],
      [`/v1/runs/${runs.requires_action}/submit_tool_outputs`, { tool_outputs: [] }],
    ] as const;
    for (const [path, body] of asked) {
      const { status, body: answered } = await client.post(`${path}?${query}`, body);
      expect([path, query, status]).toEqual([path, query, 400]);
      expect(answered.error.code).toBe("validation_failed");
    }
  }
  expect(await count()).toBe(before);
});

const over = ["completed", "failed", "cancelled", "imported", "forked", "replayed"];

test.each(over)(
  "a slim stream has the content of a full one from every position, for a run that is %s",
  async (state) => {
    const id = runs[state]!;
    const read = async (frames: string, from: string | null) => {
      const headers: Record<string, string> = {
        authorization: `Bearer ${client.key.secret}`,
        accept: "text/event-stream",
      };
      if (from !== null) headers["last-event-id"] = from;
      const { status, body } = await server.send("GET", `/v1/runs/${id}/events?frames=${frames}`, undefined, headers);
      return { status, events: status === 200 ? eventsOf(body) : [] };
    };
    const all = (await read("full", null)).events;
    for (const from of [null, "0", ...all.map((event) => event.id)]) {
      const [full, slim] = [await read("full", from), await read("slim", from)];
      expect([from, slim.status]).toEqual([from, full.status]);
      expect(slim.events.map(({ id, event }) => [id, event])).toEqual(full.events.map(({ id, event }) => [id, event]));
      for (const [index, { event, data }] of slim.events.entries())
        if (event === "token") expect(full.events[index]!.data).toMatchObject(data);
        else expect(data).toEqual(full.events[index]!.data);
    }
    const accept = { authorization: `Bearer ${client.key.secret}`, accept: "text/event-stream" };
    for (const twice of ["frames=slim&frames=full", "frames=slim&frames=slim"])
      expect((await server.send("GET", `/v1/runs/${id}/events?${twice}`, undefined, accept)).status, twice).toBe(400);
    for (const wrong of ["-1", "x", "1.x", "999999999", "1.1", "1.5"])
      for (const frames of ["full", "slim"]) expect((await read(frames, wrong)).status, wrong).toBe(400);
  },
);

const eventsOf = (text: string) =>
  text.split("\n\n").flatMap((block) => {
    const match = /event: (.+)\nid: (.+)\ndata: (.+)$/.exec(block);
    return match ? [{ event: match[1]!, id: match[2]!, data: JSON.parse(match[3]!) }] : [];
  });
