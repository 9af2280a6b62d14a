import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { npmWith } from "../scripts/npm-tool.ts";
import { freePort } from "../server/testing/free-port.ts";
import { serveWriter } from "./durable-writer.ts";
import { createScripted } from "./fixtures.ts";
import { type Json, type Runnel, runProgram, startRunnel } from "./harness.ts";
import { withTimeout } from "./until.ts";

// The official client of Durable Streams, unmodified, on runs of the compiled executable.

const version = "0.2.7";
const folder = mkdtempSync(join(tmpdir(), "runnel-durable-"));

/** Reads a stream from an offset and prints its items as JSON lines. */
const program = `
import { stream } from "@durable-streams/client";
const [url, key, offset, live] = process.argv.slice(2);
const response = await stream({
  url, offset, live: live === "false" ? false : live,
  headers: { Authorization: "Bearer " + key },
  backoffOptions: { initialDelay: 100, maxDelay: 500, multiplier: 1.5 },
});
response.subscribeJson(async ({ items, offset, streamClosed }) => {
  process.stdout.write(JSON.stringify({ items, offset, streamClosed }) + "\\n");
});
`;

let hasClient = false;
let server: Runnel;
beforeAll(async () => {
  await Bun.write(join(folder, "read.mjs"), program);
  const modules = await npmWith(`durable-streams-${version}`, [`@durable-streams/client@${version}`]);
  hasClient = modules !== null;
  if (modules) symlinkSync(modules, join(folder, "node_modules"));
  else console.warn("skipped: the client of Durable Streams (the npm registry has none)");
  server = await startRunnel({ flags: ["--port", String(freePort())] });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

interface Message {
  event: string;
  id: string;
  data: { delta?: string };
}

/** Yields the lines that the client prints. */
function read(run: string, offset: string, live: string) {
  const url = `${server.url}/streams/v1/runs/${run}`;
  const child = Bun.spawn(["node", "read.mjs", url, server.keys.test, offset, live], {
    cwd: folder,
    env: { PATH: process.env.PATH!, NODE_EXTRA_CA_CERTS: join(folder, "ca.pem") },
    stdout: "pipe",
    stderr: "pipe",
  });
  const items: Message[] = [];
  let [last, isClosed] = [offset, false];
  let heard: () => void = () => {};
  const done = (async () => {
    let rest = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream() as never)) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        const said = JSON.parse(line);
        items.push(...said.items);
        last = said.offset;
        isClosed = said.streamClosed;
      }
      heard();
    }
    const [code, stderr] = [await child.exited, await new Response(child.stderr).text()];
    return { code, stderr };
  })();
  return {
    items,
    offset: () => last,
    isClosed: () => isClosed,
    ended: () => withTimeout(done, "the client ends"),
    async until(holds: () => boolean) {
      while (!holds()) {
        const { promise, resolve } = Promise.withResolvers<void>();
        heard = resolve;
        await withTimeout(Promise.race([promise, done]), "the client receives a message");
      }
    },
    leave: () => child.kill("SIGKILL"),
  };
}

const textOf = (items: readonly Message[]): string => items.map(({ data }) => data.delta ?? "").join("");
const namesOf = (items: readonly Message[]) => items.map(({ event }) => event).filter((event) => event !== "token");

const words = Array.from({ length: 30 }, (_, index) => `word${index}`).join(" ");
const start = async (delta_ms: number): Promise<string> => {
  const agent_id = await createScripted(server, [{ text: words, delta_ms }]);
  return (await server.post("/v1/runs", { agent_id, input: "Go." })).body.id;
};

describe("the client of Durable Streams", () => {
  test("reads a finished run, whole and from any offset, and its end", async () => {
    if (!hasClient) return;
    await Bun.write(join(folder, "ca.pem"), server.ca!);
    const run = await start(0);
    const whole = read(run, "-1", "sse");
    expect(await whole.ended()).toEqual({ code: 0, stderr: "" });
    expect([textOf(whole.items), whole.items.at(-1)!.event, whole.isClosed()]).toEqual([words, "run.completed", true]);
    for (const live of ["false", "long-poll"]) {
      const again = read(run, "-1", live);
      expect(await again.ended()).toEqual({ code: 0, stderr: "" });
      expect([textOf(again.items), namesOf(again.items)]).toEqual([words, namesOf(whole.items)]);
    }
  });

  test.each(["sse", "long-poll"])("follows a run by %s over kill -9, and continues from its offset", async (live) => {
    if (!hasClient) return;
    await Bun.write(join(folder, "ca.pem"), server.ca!);
    const run = await start(60);
    const first = read(run, "-1", live);
    await first.until(() => textOf(first.items).includes("word5"));
    await server.kill9();
    await server.restart();
    const end = await first.ended();
    const items = [...first.items];
    // If the cut falls between two reads of this client version, its error is unhandled, and the process exits.
    if (end.code !== 0) {
      expect(end.stderr).toContain("TypeError: terminated");
      const second = read(run, first.offset(), live);
      expect(await second.ended()).toEqual({ code: 0, stderr: "" });
      items.push(...second.items);
    }
    expect(namesOf(items).slice(-1)).toEqual(["run.completed"]);
    // Text of the call that died is void from the restart on.
    const restart = items.findLastIndex(({ event }) => event === "step.restarted");
    expect(textOf(items.slice(restart + 1))).toBe(words);
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
  });

  test("another reader continues exactly where the first one left", async () => {
    if (!hasClient) return;
    await Bun.write(join(folder, "ca.pem"), server.ca!);
    const run = await start(60);
    const first = read(run, "-1", "sse");
    await first.until(() => textOf(first.items).includes("word5"));
    first.leave();
    await first.ended();
    const second = read(run, first.offset(), "sse");
    expect(await second.ended()).toEqual({ code: 0, stderr: "" });
    const both = [...first.items, ...second.items];
    expect([textOf(both), new Set(both.map(({ id }) => id)).size]).toEqual([words, both.length]);
  });
});

const suite = "@durable-streams/server-conformance-tests";
/** Tests of reading; not of writing, forks, expiring streams, and types other than JSON and text. */
const reading = [
  "Read Operations",
  "Long-Poll",
  "Browser Security",
  "HEAD",
  "Offset Validation",
  "Caching",
  "SSE",
  "Read Closed",
  "Long-poll",
  "JSON Mode",
  "Read-Your-Writes",
].join("|");
const others = [
  "TTL",
  "Expir",
  "Fork",
  "base64",
  "binary",
  "PUT responses",
  "POST responses",
  "PUT with empty",
  "reject POST",
  "reject invalid JSON",
  "reject empty JSON",
  "Idempotent",
].join("|");

test("the reading part of the official conformance suite passes completely", async () => {
  const modules = await npmWith("durable-conformance-0.3.6", [`${suite}@0.3.6`, "vitest@4.1.12"]);
  if (!modules) return console.warn("skipped: the conformance suite of Durable Streams (the npm registry has none)");
  await using own = await startRunnel();
  await own.command("projects", "origins", "default", "--origins", "https://example.com");
  await using writer = await serveWriter(own);
  const cwd = join(folder, "conformance");
  mkdirSync(cwd);
  symlinkSync(modules, join(cwd, "node_modules"));
  const program = `import { runConformanceTests } from "${suite}"; runConformanceTests({ baseUrl: "${writer.url}" });`;
  await Bun.write(join(cwd, "suite.test.mjs"), program);
  const flags = ["--reporter=json", "--outputFile=said.json", "--testTimeout=60000", "--sequence.concurrent"];
  const patience = ["--maxConcurrency=5", "--retry=2"]; // Some of its tests allow two seconds for a response.
  const chosen = `^(?!.*(${others})).*(${reading}).*$`;
  const command = ["node", "node_modules/vitest/vitest.mjs", "run", ...flags, ...patience, "-t", chosen];
  const { stderr } = await runProgram(command, cwd, { PATH: process.env.PATH!, HOME: cwd }, 120_000);
  const said: Json = await Bun.file(join(cwd, "said.json"))
    .json()
    .catch(() => stderr);
  const results: Json[] = said.testResults[0].assertionResults;
  const failed = results.filter(({ status }) => status === "failed");
  expect(failed.map(({ fullName, failureMessages }) => [fullName, failureMessages[0]])).toEqual([]);
  expect(results.filter(({ status }) => status === "passed").length).toBe(93);
}, 180_000);
