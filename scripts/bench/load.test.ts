import { expect, test } from "bun:test";
import type { Load } from "./load.ts";
import { measure } from "./processes.ts";

/** A stream of two tokens of each format, whose last event has the whole text once more, as servers send it. */
const streams = {
  runnel: 'event: run.output\ndata: {"delta":" one"}\n\ndata: {"delta":" two"}\n\ndata: {"output":" one two"}\n\n',
  model: 'data: {"choices":[{"delta":{"content":" one"}}]}\n\ndata: {"choices":[{"delta":{"content":" two"}}]}\n\n',
  agno:
    'data: {"event":"RunContent","content":" one"}\n\ndata: {"event":"RunContent","content":" two"}\n\n' +
    'data: {"event":"RunContentCompleted"}\n\ndata: {"event":"RunCompleted","content":" one two"}\n\n',
  "ai-sdk":
    'data: {"type":"text-start"}\n\ndata: {"type":"text-delta","payload":{"text":" one"}}\n\n' +
    'data: {"type":"text-delta","text":" two"}\n\ndata: {"type":"finish","output":{"text":" one two"}}\n\n',
} satisfies Record<NonNullable<Load["events"]>, string>;

const formats = Object.keys(streams) as (keyof typeof streams)[];
test.each(formats)("a load counts the characters of the tokens alone in %s streams", async (events) => {
  using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(streams[events]) });
  const measured = await measure({ url: server.url.href, events, connections: 1, requests: 3 });
  expect(measured).toMatchObject({ errors: 0, count: 3, characters: 3 * " one two".length });
  expect(measured.first50).not.toBeNaN();
});

test("each request of a load has an id of its own", async () => {
  const bodies: string[] = [];
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      bodies.push(await request.text());
      return new Response("ok");
    },
  });
  const body = "a $REQUEST_ID b";
  await measure({ url: server.url.href, method: "POST", body, connections: 1, requests: 3 });
  expect(bodies).toEqual(Array(3).fill(expect.stringMatching(/^a [0-9a-f-]{36} b$/)));
  expect(new Set(bodies).size).toBe(3);
});
