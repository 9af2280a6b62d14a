import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { denoPath } from "../scripts/deno-tool.ts";
import { type Program, startRuntimes } from "./client-runtimes.ts";
import { pythonForExamples } from "./doc-examples.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { type HostileServer, hostileCases, startHostileServer } from "./hostile-answers.ts";
import { clientKinds, installClient } from "./python-programs.ts";

// The clients against servers that violate HTTP: one table for both languages. The caller gets an error of the library,
// soon, with bounded memory and requests.

const python = await pythonForExamples();
const deno = await denoPath();
let server: Runnel;
let runtimes: Awaited<ReturnType<typeof startRuntimes>>;
let client: Awaited<ReturnType<typeof installClient>>;
beforeAll(async () => {
  server = await startRunnel();
  runtimes = await startRuntimes(server);
  if (python) client = await installClient(server, python);
}, 180_000);
afterAll(async () => {
  client?.[Symbol.dispose]();
  await runtimes?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

/**
 * Milliseconds that a client may take: short only where the client itself must give up, because the machine may be
 * busy.
 */
const limitsOf = ({ name, does, becomes }: (typeof hostileCases)[number]) => ({
  timeoutMs: becomes === "APITimeoutError" ? 1500 : 40_000,
  patienceMs: does === "stream" && /^(APIConnection|InternalServer)Error$/.test(String(becomes)) ? 1500 : 40_000,
  silenceMs: name === "silent" ? 1000 : 40_000,
});

const cases = hostileCases
  .map((one) => ({ name: one.name, does: one.does, isLong: one.isLong ?? false, ...limitsOf(one) }))
  .sort((one, other) => (one.name < other.name ? -1 : 1));
const expected = hostileCases
  .map(({ name, becomes }) => ({ name, became: becomes }))
  .sort((one, other) => (one.name < other.name ? -1 : 1));

/** The clients' limits plus the buffers on the way, in bytes. */
const mostBytes = 200 * 2 ** 20;

function expectBounds(hostile: HostileServer): void {
  for (const { name, requests } of hostileCases) {
    expect({ name, asked: hostile.asked.get(name)! }).toEqual({ name, asked: expect.any(Number) });
    expect({ name, tooOften: hostile.asked.get(name)! > requests }).toEqual({ name, tooOften: false });
    expect({ name, tooMuch: hostile.sent(name) > mostBytes }).toEqual({ name, tooMuch: false });
  }
  expect(hostile.strangers()).toBe(0);
}

const meetAll: Program = async ({ library, args: { cases, url } }) => {
  const meet = async ({ name, does, timeoutMs, patienceMs, silenceMs }: Json) => {
    const runnel = new library.Runnel({ baseUrl: `${url}/${name}`, apiKey: "sk_test_1", timeoutMs, maxRetries: 1 });
    if (does === "request") await runnel.me.retrieve();
    else if (does === "list") await runnel.agents.list().toArray();
    else {
      const stream = runnel.runs.stream({ agent_id: "agt_1", input: "Hi" }, { patienceMs, silenceMs });
      const events: string[] = [];
      for await (const { event } of stream) events.push(event);
      if (!["", "Hi"].includes(stream.text)) throw new Error(stream.text);
      return events;
    }
    return "nothing";
  };
  const results: Json[] = [];
  const learn = async (one: Json) => {
    const became = await meet(one).catch((error: Json) =>
      error instanceof library.RunnelError ? error.name : `${error?.name}: ${error?.message}`,
    );
    results.push({ name: one.name, became });
  };
  // Long cases run alone, because they keep a core busy and would slow the others.
  await Promise.all(cases.filter(({ isLong }: Json) => !isLong).map(learn));
  for (const one of cases.filter(({ isLong }: Json) => isLong)) await learn(one);
  return results.sort((one, other) => (one.name < other.name ? -1 : 1));
};

describe("against hostile servers", () => {
  // The programs wait more than they compute.
  for (const name of ["node", "bun", "deno"])
    test.concurrent.skipIf(name === "deno" && !deno)(
      `the TypeScript client in ${name} throws its own errors, and gives up`,
      async () => {
        using hostile = await startHostileServer();
        const runtime = runtimes.all.find((one) => one.name === name)!;
        const start = { url: hostile.url, apiKey: "sk_test_1", args: { cases, url: hostile.url } };
        expect(await runtime.start(meetAll, start).result).toEqual(expected);
        expectBounds(hostile);
      },
      120_000,
    );

  for (const kind of clientKinds)
    test.concurrent.skipIf(!python)(
      `the Python client raises its own errors, and gives up (${kind})`,
      async () => {
        using hostile = await startHostileServer();
        const environment = { RUNNEL_URL: hostile.url, CASES: JSON.stringify(cases) };
        const { code, stdout, stderr } = await client.run(["hostile"], kind, environment);
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
        expect(
          stdout
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line)),
        ).toEqual(expected);
        expectBounds(hostile);
      },
      120_000,
    );
});
