import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { interpreterOf, pythonWith } from "../scripts/python-tool.ts";
import { inProject } from "../scripts/root.ts";
import {
  escapedValues,
  everyCall,
  headersOf,
  pathChangingValues,
  startRecorder,
  withPart,
} from "../scripts/sdk-codegen/every-operation.ts";
import { build } from "../server/lib/build-info.ts";
import { freePort } from "../server/testing/free-port.ts";
import { programOf, pythonForExamples } from "./doc-examples.ts";
import { createAgent, createScripted, createTool, stubConnection } from "./fixtures.ts";
import { type CommandResult, type Json, type Runnel, startRunnel } from "./harness.ts";
import { type ModelServer, startModelServer, wordsOf } from "./model-server.ts";
import { clientKinds, installClient, type Kind } from "./python-programs.ts";
import { type ForwardedRequest, type RequestFault, startRoughProxy } from "./rough-proxy.ts";

// The Python client as the executable serves it, in its async and its sync form, against the executable.

type Client = Awaited<ReturnType<typeof installClient>>;

const done: CommandResult = { code: 0, stdout: "done\n", stderr: "" };
const words = "word ".repeat(60).trim();
const whole = { code: 0, stderr: "" };

/** Parses the output of `stream.py`: its events, and finally the joined text. */
function printed({ code, stdout, stderr }: CommandResult): { events: Json[]; run_id: string; text: string } {
  expect({ code, stderr }).toEqual(whole);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { ...events.pop(), events };
}

/** Expects each event once, in order, and one end. Text of a restarted step is void. */
function expectExact(events: Json[]): void {
  const ids = events.map(({ id }) => id.split(".").map(Number));
  for (const [at, id] of ids.entries()) {
    const [seq, offset = 0] = id;
    const [before = 0, beforeOffset = 0] = ids[at - 1] ?? [];
    if (offset > 0) expect(seq === before ? offset > beforeOffset : seq <= before).toBe(true);
  }
  const seqs = ids.filter((id) => id.length === 1).map(([seq]) => seq);
  expect(seqs).toEqual(seqs.map((_, at) => at + 1));
  expect(events.filter(({ event }) => event === "run.completed" || event === "run.failed")).toEqual([events.at(-1)]);
}

/** A response in bytes carries no ETag, so the operations that compare one are left out. */
function comparingNothing(calls: ReturnType<typeof everyCall>) {
  for (const { python, sent } of calls)
    for (const header of ["if-none-match", "if-range"]) {
      delete python.named[header.replaceAll("-", "_")];
      delete sent.headers[header];
    }
  return calls;
}

const python = await pythonForExamples();
const fixed = (environment = {}) => startRunnel({ flags: ["--port", String(freePort())], environment });

describe("the Python client", () => {
  let model: ModelServer;
  let server: Runnel;
  let client: Client;
  beforeAll(async () => {
    model = startModelServer();
    server = await fixed(stubConnection(model.url));
    if (python) client = await installClient(server, python);
  });
  afterAll(async () => {
    client?.[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
    await model[Symbol.asyncDispose]();
  });

  /** Defines a test for each of the two clients. */
  const forBoth = (name: string, body: (client: Client, kind: Kind) => Promise<void>) => {
    for (const kind of clientKinds) test.skipIf(!python)(`${name} (${kind})`, () => body(client, kind));
  };

  forBoth("has resources, pages, errors, files and trust", async (client, kind) => {
    expect(await client.run(["resources"], kind)).toEqual(done);
  });

  forBoth("answers the calls of client tools", async (client, kind) => {
    expect(await client.run(["loop", `loop_${kind}`], kind)).toEqual(done);
  });

  forBoth("has a method for every operation, which sends all that the operation takes", async (client, kind) => {
    const calls = comparingNothing(everyCall((await server.get("/v1/openapi.json")).body));
    using recorder = startRecorder(headersOf(calls));
    const environment = { RUNNEL_URL: recorder.url, CALLS: join(client.folder, `calls-${kind}.json`) };
    await Bun.write(environment.CALLS, JSON.stringify(calls));
    expect(await client.run(["every_operation"], kind, environment)).toEqual(done);
    expect(recorder.received.map((sent, at) => ({ id: calls[at]?.id, ...sent }))).toEqual(
      calls.map(({ id, sent }) => ({ id, ...sent })),
    );
  });

  forBoth("sends nothing for a part of a path that leads to another address", async (client, kind) => {
    const calls = comparingNothing(everyCall((await server.get("/v1/openapi.json")).body));
    const each = (values: [string, string][]) =>
      calls.flatMap((call) =>
        Array.from({ length: call.parts }, (_, index) => values.map((pair) => withPart(call, index, ...pair))).flat(),
      );
    const refused = each(pathChangingValues.map((value) => [value, value]));
    const sent = each(Object.entries(escapedValues));
    using recorder = startRecorder([]);
    const environment = { RUNNEL_URL: recorder.url, CALLS: join(client.folder, `parts-${kind}.json`) };
    await Bun.write(environment.CALLS, JSON.stringify({ refused, sent }));
    expect(await client.run(["path_parts"], kind, environment)).toEqual(done);
    expect(recorder.received.map(({ path }) => path)).toEqual(sent.map((call) => call.sent.path));
    expect(refused.length).toBeGreaterThan(150);
  });

  forBoth("verifies webhooks", async (client, kind) => {
    const secret = `whsec_${Buffer.from("a secret of twenty-four.").toString("base64")}`;
    const body = JSON.stringify({ id: "evt_1", type: "run.completed" });
    const now = new Date();
    const headers = {
      "webhook-id": "evt_1",
      "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
      "webhook-signature": new Webhook(secret).sign("evt_1", now, body),
    };
    const RECEIVED = JSON.stringify({ body, headers, secret });
    expect(await client.run(["webhook"], kind, { RECEIVED })).toEqual(done);
  });

  forBoth("retries under the same key, as the server wishes, and not for ever", async (client, kind) => {
    const refused = { status: 429, headers: { "retry-after": "0" }, body: "Slow down." };
    using proxy = await startRoughProxy(server, ({ method, path }, earlier) => {
      const before = earlier.filter((one) => one.method === method && one.path === path).length;
      if (method === "POST") return { loseResponse: before === 0 };
      if (path.startsWith("/v1/threads")) return before === 0 ? { respond: refused } : {};
      if (path.startsWith("/v1/agents")) return { respond: refused };
      return path.startsWith("/v1/models") ? { mute: true } : {};
    });
    expect(await client.run(["retries"], kind, { RUNNEL_URL: proxy.url })).toEqual(done);
    const posts = proxy.requests.filter(({ method }) => method === "POST");
    expect(posts.length).toBe(2);
    expect(new Set(posts.map(({ key }) => key)).size).toBe(1);
    expect(posts[0]!.key).toMatch(/^[\w-]{20,}$/);
    expect(proxy.requests.filter(({ path }) => path.startsWith("/v1/agents"))).toHaveLength(1);
  });

  forBoth("streams a run over kill -9 and a restart", async (client, kind) => {
    model.hold();
    const agent_id = await createAgent(server, "half-60-10");
    const STREAM = JSON.stringify({ agent_id, input: "Go" });
    const middle = Promise.withResolvers<void>();
    const ended = client.run(["stream"], kind, { STREAM }, (line) => {
      if (JSON.parse(line).data?.offset > 50) middle.resolve();
    });
    await Promise.race([middle.promise, ended]);
    await server.kill9();
    model.release();
    await server.restart();
    const { events, run_id, text } = printed(await ended);
    expectExact(events);
    expect(events.map(({ event }) => event)).toContain("run.recovered");
    expect(text).toBe(wordsOf(60));
    expect((await server.get(`/v1/runs/${run_id}`)).body).toMatchObject({ status: "completed", output: text });
    expect((await server.get(`/v1/runs?agent_id=${agent_id}`)).body.data).toHaveLength(1);
  });

  // Bounded, because a connection that is cut before its first event makes no progress.
  const cut = (_: ForwardedRequest, earlier: readonly ForwardedRequest[]): RequestFault =>
    earlier.length < 12 ? { cutAfter: 1 + Math.floor(Math.random() * 1500) } : {};
  const fates: [
    string,
    (request: ForwardedRequest, earlier: readonly ForwardedRequest[]) => RequestFault,
    Record<string, unknown>,
  ][] = [
    ["cut at random places", cut, {}],
    ["cut at random places, with less sent for each token", cut, { slim: true }],
    ["whose first response is lost", (_, earlier) => ({ loseResponse: earlier.length === 0 }), {}],
    ["that falls silent", (_, earlier) => ({ silentAfter: earlier.length < 2 ? 600 : undefined }), { timeout: 3.0 }],
    [
      "that is refused for a while",
      (_, earlier) =>
        earlier.length === 1 || earlier.length === 2
          ? { respond: { status: 503, body: "Later." } }
          : { cutAfter: earlier.length === 0 ? 500 : undefined },
      {},
    ],
  ];
  for (const [name, fateOf, options] of fates)
    forBoth(`streams a run over a connection ${name}`, async (client, kind) => {
      const agent_id = await createScripted(server, [{ text: words, delta_ms: 5 }]);
      using proxy = await startRoughProxy(server, fateOf);
      const STREAM = JSON.stringify({ agent_id, input: "Go", ...options });
      const { events, text } = printed(await client.run(["stream"], kind, { STREAM, RUNNEL_URL: proxy.url }));
      expectExact(events);
      expect(text).toBe(words);
      expect(proxy.requests.length).toBeGreaterThan(1);
      expect((await server.get(`/v1/runs?agent_id=${agent_id}`)).body.data).toHaveLength(1);
    });

  forBoth("tells of a message and of a pause, and waits until the run is resumed", async (client, kind) => {
    expect(await client.run(["pause"], kind)).toEqual(done);
  });

  forBoth("follows a run from where somebody was", async (client, kind) => {
    const agent_id = await createAgent(server, "test/echo");
    const { body: run } = await server.post("/v1/runs?wait=60", { agent_id, input: "Hello" });
    const from = async (more: object) =>
      printed(await client.run(["stream"], kind, { STREAM: JSON.stringify({ follow: run.id, ...more }) }));
    const all = await from({});
    expectExact(all.events);
    expect(all.text).toBe("Hello");
    const later = await from({ last_event_id: "2" });
    expect(later.events).toEqual(all.events.filter(({ id }) => Number.parseFloat(id) > 2));
    expect((await from({ last_event_id: all.events.at(-1).id })).events).toEqual([]);
  });

  forBoth("calls a tool once, though the server dies before its output is submitted", async (client, kind) => {
    const tool = await createTool(server);
    const script = [{ tool_calls: [{ name: tool.name, arguments: { city: "Oslo" } }] }, { text: "Thank you." }];
    const AGENT = await createScripted(server, script, { tools: [tool.id] });
    const CALLED = join(client.folder, `called-${kind}`);
    const isSubmission = ({ path }: ForwardedRequest) => path.endsWith("/submit_tool_outputs");
    // The first submission meets a dead server, the second loses its response.
    using proxy = await startRoughProxy(server, (request, earlier) => {
      if (!isSubmission(request)) return {};
      const before = earlier.filter(isSubmission).length;
      if (before === 0) return { first: () => server.kill9().then(() => server.restart()), loseRequest: true };
      return { loseResponse: before === 1 };
    });
    const { code, stdout, stderr } = await client.run(["once"], kind, {
      AGENT,
      CALLED,
      TOOL: tool.name,
      RUNNEL_URL: proxy.url,
    });
    expect({ code, stdout, stderr }).toEqual({ ...whole, stdout: "completed Thank you.\n" });
    expect(readFileSync(CALLED, "utf8")).toBe("Oslo\n");
    const submissions = proxy.requests.filter(isSubmission);
    expect(submissions.length).toBeGreaterThan(2);
    expect(new Set(submissions.map(({ key }) => key)).size).toBe(1);
    expect((await server.get(`/v1/runs?agent_id=${AGENT}`)).body.data).toHaveLength(1);
  });
});

const pydantic = await pythonWith("client-pydantic-1", ["httpx==0.28.1", "pydantic==2.14.4"]);
const mypy = await pythonWith("client-mypy-2", ["httpx==0.28.1", "mypy==2.4.1", "pip==26.3"]);
const others = await Promise.all(
  [
    ["Python 3.10", "3.10", "httpx==0.28.1"],
    ["Python 3.12", "3.12", "httpx==0.28.1"],
    ["Python 3.13", "3.13", "httpx==0.28.1"],
    ["httpx 0.23.3", null, "httpx==0.23.3"],
  ].map(async ([name, version, httpx]) => {
    const found = version ? interpreterOf(version) : undefined;
    const env = `client-${version ?? "python3"}-${httpx!.replace("==", "-")}`;
    return { name, programs: found === null ? null : await pythonWith(env, [httpx!], found) };
  }),
);

describe("the wheel", () => {
  test.skipIf(!python)("has a README whose program runs as printed", async () => {
    await using server = await fixed();
    using client = await installClient(server, python!);
    const readme = readFileSync(inProject("server/sdks/python/README.md"), "utf8");
    const { code, stdout, stderr } = await client.python("-c", programOf(readme, "python")!);
    expect({ code, stderr }).toEqual(whole);
    expect(stdout).toStartWith("Good morning!Good evening!\nrun_");
    expect(stdout).toContain("404 resource_not_found req_");
    expect((await server.get("/v1/agents")).body.data).toEqual([]);
  });

  for (const { name, programs } of others)
    test.skipIf(!programs)(`works with ${name}`, async () => {
      await using server = await fixed();
      using client = await installClient(server, programs!);
      for (const kind of clientKinds) {
        for (const program of [["resources"], ["loop", `loop_${kind}`]])
          expect(await client.run(program, kind)).toEqual(done);
        const agent_id = await createScripted(server, [{ text: words, delta_ms: 5 }]);
        using proxy = await startRoughProxy(server, (_, earlier) => (earlier.length === 0 ? { cutAfter: 900 } : {}));
        const STREAM = JSON.stringify({ agent_id, input: "Go" });
        const { events, text } = printed(await client.run(["stream"], kind, { STREAM, RUNNEL_URL: proxy.url }));
        expectExact(events);
        expect(text).toBe(words);
      }
    });

  for (const [name, programs] of [
    ["pydantic", pydantic],
    ["nothing else", python],
  ] as const)
    test.skipIf(!programs)(`makes tools of typed functions, with ${name} installed`, async () => {
      await using server = await fixed();
      using client = await installClient(server, programs!);
      expect(await client.python(inProject("e2e/clients/functions.py"), name)).toEqual(done);
    });

  test.skipIf(!python)("does what a program expects that is used to other clients", async () => {
    await using server = await fixed();
    using client = await installClient(server, python!);
    expect(await client.python(inProject("e2e/clients/ergonomics.py"))).toEqual(done);
  });

  test.skipIf(!mypy)("is complete, describes itself, and satisfies type checkers", async () => {
    await using server = await fixed();
    using client = await installClient(server, mypy!);
    const info = join(client.site, `runnel_sdk-${build.version}.dist-info`);
    const metadata = readFileSync(join(info, "METADATA"), "utf8");
    for (const line of [`Version: ${build.version}`, "License-Expression: Apache-2.0", "Requires-Python: >=3.10"])
      expect(metadata).toContain(`\n${line}\n`);
    expect(metadata).toEndWith(readFileSync(inProject("server/sdks/python/README.md"), "utf8"));
    expect(readFileSync(join(info, "licenses/LICENSE"), "utf8")).toContain("Apache License");
    expect(existsSync(join(client.site, "runnel_sdk/py.typed"))).toBe(true);

    expect(await client.python("-m", "zipfile", "-t", client.wheel)).toMatchObject(whole);
    expect(await client.python("-m", "compileall", "-q", "-f", join(client.site, "runnel_sdk"))).toMatchObject(whole);
    const checked = await client.python("-m", "pip", "--disable-pip-version-check", "check");
    expect(checked).toMatchObject({ code: 0, stdout: "No broken requirements found.\n" });
    const { origin, host } = new URL(server.url);
    const address = `${origin}/docs/clients/runnel_sdk-${build.version}-py3-none-any.whl`;
    const install = [
      "-m",
      "pip",
      "install",
      "--disable-pip-version-check",
      "--no-index",
      "--no-deps",
      "--target",
      "again",
    ];
    expect(await client.python(...install, address, "--trusted-host", host.split(":")[0]!)).toMatchObject({ code: 0 });
    expect(await client.python("-c", recordCheck, client.wheel)).toEqual({ ...whole, stdout: "whole\n" });

    const program = join(client.folder, "typed.py");
    copyFileSync(inProject("e2e/clients/typed.py"), program);
    const strict = ["--strict", "--warn-unused-ignores", "--no-incremental", "--python-version", "3.10"];
    const checkedTypes = await client.python("-m", "mypy", ...strict, join(client.site, "runnel_sdk"), program);
    expect(checkedTypes.stdout).toContain("Success: no issues found");
  });
});

/** Checks something that pip ignores: RECORD lists each file with its hash and size. */
const recordCheck = `
import base64, csv, hashlib, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
name = next(name for name in wheel.namelist() if name.endswith("/RECORD"))
rows = list(csv.reader(wheel.read(name).decode().splitlines()))
assert sorted(row[0] for row in rows) == sorted(wheel.namelist())
for path, digest, size in rows:
    if path != name:
        content = wheel.read(path)
        assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        assert int(size) == len(content)
print("whole")
`;
