import { afterAll, beforeEach, expect, test } from "bun:test";
import { unknownPolicies } from "../domain/agent-snapshot.ts";
import type { ToolAnswer } from "../domain/submit.ts";
import { copyDatabase } from "../testing/copy-database.ts";
import { httpTool, runFixture } from "../testing/run-fixture.ts";

type Way = "timeout" | "lost connection" | "crash";
const ways: Way[] = ["timeout", "lost connection", "crash"];

// Accepts a call without responding: its outcome is unknown to the caller.
let keys: (string | null)[] = [];
let fate: Way = "timeout";
let arrived = Promise.withResolvers<void>();
const server = Bun.listen({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    data(socket, bytes) {
      const key = /^idempotency-key: (\S+)/im.exec(bytes.toString())?.[1] ?? null;
      if (key === null) return;
      keys.push(key);
      if (keys.length > 1) socket.end("HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\ntrue");
      else if (fate === "lost connection") socket.terminate();
      arrived.resolve();
    },
  },
});
afterAll(() => server.stop(true));
beforeEach(() => {
  keys = [];
  arrived = Promise.withResolvers();
});

const script = [{ tool_calls: [{ name: "pay", arguments: {} }] }, { text: "Done." }];

/**
 * Makes the call, interrupts its request in one of these ways, and returns the outcome for the run and for the server.
 */
async function become(way: Way, policy: Parameters<typeof httpTool>[2], answer?: Omit<ToolAnswer, "tool_call_id">) {
  fate = way;
  const http = httpTool("pay", `http://127.0.0.1:${server.port}/`, policy);
  const timeout_ms = way === "timeout" ? 500 : 60_000; // Longer than the second request.
  const pay = { ...http, http: { ...http.http, timeout_ms, retries: 1 } };
  using first = runFixture();
  const { id } = await first.start(script, { tools: [pay] });
  if (way === "crash") await arrived.promise;
  using second = way === "crash" ? runFixture({ db: copyDatabase(first.db) }) : null;
  const fixture = second ?? first;
  await second?.service.recover();
  let run = await fixture.settled(id);
  const asked = run.required_action?.submit_tool_outputs.tool_calls.map(({ needs }) => needs) ?? null;
  if (asked) {
    await fixture.service.submit(fixture.scope, id, [{ tool_call_id: run.tool_calls[0]!.id, ...answer! }]);
    run = await fixture.settled(id);
  }
  const [{ status, output, error }] = run.tool_calls as [(typeof run.tool_calls)[0]];
  const ended = { run: run.status, asked, status, output, code: error?.code ?? null };
  return { ...ended, requests: keys.length, keys: new Set(keys).size };
}

const once = { run: "completed", requests: 1, keys: 1 } as const;
const twice = {
  run: "completed",
  asked: null,
  status: "completed",
  output: true,
  code: null,
  requests: 2,
  keys: 1,
} as const;

test.each(
  ways.flatMap((way) => [true, false].flatMap((safe) => unknownPolicies.map((policy) => [way, safe, policy] as const))),
)(
  "after a %s, a repeatable call (%p, on_unknown %s) is repeated under its key, and no outcome of others is assumed",
  async (way, idempotent, on_unknown) => {
    const became = await become(way, { idempotent, on_unknown }, { output: "It was paid." });
    if (idempotent || on_unknown === "retry") expect(became).toEqual(twice);
    else if (on_unknown === "report")
      expect(became).toEqual({ ...once, asked: null, status: "unknown", output: null, code: "outcome_unknown" });
    else
      expect(became).toEqual({
        ...once,
        asked: ["reconcile"],
        status: "completed",
        output: "It was paid.",
        code: null,
      });
  },
);

test.each(ways)("after a %s, a person may decide that the call is repeated, or that it did not happen", async (way) => {
  expect(await become(way, {}, { decision: "approve" })).toEqual({ ...twice, asked: ["reconcile"] });
  keys = [];
  arrived = Promise.withResolvers();
  expect(await become(way, {}, { decision: "reject" })).toMatchObject({
    ...once,
    status: "rejected",
    code: "not_executed",
  });
});

test("a call that never left its machine has failed, whatever its tool: there is no decision to make", async () => {
  const gone = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = gone;
  gone.stop(true);
  using fixture = runFixture();
  const { id } = await fixture.start(script, { tools: [httpTool("pay", `http://127.0.0.1:${port}/`)] });
  const { status, tool_calls } = await fixture.settled(id);
  expect([status, tool_calls[0]!.status, tool_calls[0]!.error?.code]).toEqual([
    "completed",
    "failed",
    "connect_failed",
  ]);
});
