import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dataPythonFiles } from "../../scripts/data-python-files.ts";
import { pythonFiles } from "../../scripts/python-files.ts";
import { pythonWith } from "../../scripts/python-tool.ts";
import type { ScriptEntry } from "../domain/model-call.ts";
import { findSystemPython } from "../runtime/sandbox/system-python.ts";
import { openDatabase } from "../storage/db/open.ts";
import { capsuleOf, importCapsule } from "../testing/capsules.ts";
import { xlsxOf } from "../testing/documents.ts";
import type { Answer } from "../testing/expect-declared.ts";
import { settledRun } from "../testing/settled-run.ts";
import { type Client, type TestApp, type TestAppOptions, testApp } from "../testing/test-app.ts";

// The workspaces of runs and threads, through the whole server. Most failures of other products that these
// tests are about come from a warm sandbox that is gone later: variables that are undefined, files that are lost, a
// conversation that cannot go on.

// Ends a hang only: each program starts an interpreter.
setDefaultTimeout(180_000);
beforeAll(pythonFiles, 180_000);

type Body = Answer["body"];

const strict = (options: TestAppOptions = {}) => testApp({ sandbox: "strict", ...options });

const make = async (client: Client, path: string, body: object): Promise<Body> => {
  const { status, body: made } = await client.post(`/v1/${path}`, body);
  expect([status, made.error ?? null]).toEqual([201, null]);
  return made;
};
const upload = async (client: Client, filename: string, text: string): Promise<string> =>
  (await make(client, "files", { filename, text, purpose: "code_interpreter" })).id;

/** Creates tools `js` and `py`, and an agent that has them. */
async function agentWith(
  client: Client,
  script: ScriptEntry[],
  tool: object = {},
  agent: object = {},
): Promise<string> {
  const common = { type: "code", ...tool };
  const js = await make(client, "tools", { name: "js", ...common });
  const py = await make(client, "tools", { name: "py", language: "python", timeout_ms: 50_000, ...common });
  const settings = { model: "test/script", model_settings: { script }, tools: [js.id, py.id] };
  return (await make(client, "agents", { name: "Clerk", instructions: "Work.", ...settings, ...agent })).id;
}

/** Creates a run, or forks one, and waits until it is over or waits for an action. */
async function settled(server: TestApp, client: Client, path: string, body: object): Promise<Body> {
  const { body: made } = await client.post(`/v1/${path}`, body);
  expect(made.error ?? null).toBeNull();
  return settledRun(server, client, made.id);
}
const run = (server: TestApp, client: Client, agent_id: string, more: object = {}): Promise<Body> =>
  settled(server, client, "runs", { agent_id, input: "Go", ...more });

const call = (name: "js" | "py", code: string) => ({ name, arguments: { code } });
const turn = (...tool_calls: ReturnType<typeof call>[]): ScriptEntry => ({ tool_calls });
const done: ScriptEntry = { text: "Done." };
const results = ({ tool_calls }: Body) =>
  tool_calls.map(({ output, error }: Body) => (error ? `${error.code}: ${error.message}` : output.result));
const contents = (server: TestApp) =>
  server.db.sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM workspace_contents").get()!.n;
const blobs = (server: TestApp) =>
  server.db.sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM file_blobs WHERE sha256 IS NOT NULL").get()!.n;
const programsOf = async (client: Client, id: string): Promise<Body[]> =>
  (await client.get(`/v1/traces/${id}`)).body.steps.filter(({ type }: Body) => type === "tool_call");

/** A run whose first program loads a workbook, and whose second uses the table without an import. */
async function tableOfWorkbook(server: TestApp): Promise<Body> {
  const client = await server.client();
  const rows = [["region", "amount"], ...Array.from({ length: 5 }, (_, i) => [`r${i}`, i])];
  const content_base64 = xlsxOf([{ name: "Sales", rows }]).toBase64();
  const upload = { filename: "sales.xlsx", content_base64, purpose: "code_interpreter" };
  const { id } = await make(client, "files", upload);
  const programs = [
    call("py", "import pandas as pd\ndf = pd.read_excel('sales.xlsx')\ndf.to_csv('sales.csv', index=False)"),
    call("py", "print(df.shape)"),
    call("js", "workspace.text('sales.csv').split('\\n').length"),
  ];
  const agent = await agentWith(client, [...programs.map((each) => turn(each)), done], { memory_mb: 256 });
  return run(server, client, agent, { file_ids: [id] });
}

describe("a table that one program loads from a workbook", () => {
  test("is there for the next one, which imports nothing", async () => {
    if ((await dataPythonFiles()) === null) throw new Error("Python's packages need python3 with venv, and PyPI.");
    await using server = strict();
    const { tool_calls } = await tableOfWorkbook(server);
    expect(tool_calls.map(({ error }: Body) => error)).toEqual([null, null, null]);
    expect([tool_calls[1].output.stdout, tool_calls[1].output.notes]).toEqual(["(5, 2)\n", undefined]);
    expect(tool_calls[2].output.result).toBe(7);
  });

  test("is there for the next one in an installed CPython", async () => {
    const programs = await pythonWith("data-packages", [
      "pandas==2.3.3",
      "numpy==2.2.6",
      "matplotlib==3.10.7",
      "openpyxl==3.1.5",
    ]);
    if (programs === null) return console.warn("Not tested: an installed CPython, because PyPI or python3 is missing.");
    await using server = strict({ python: await findSystemPython(join(programs, "python3")) });
    const { tool_calls } = await tableOfWorkbook(server);
    expect(tool_calls.map(({ error }: Body) => error)).toEqual([null, null, null]);
    expect([tool_calls[1].output.stdout, tool_calls[1].output.notes]).toEqual(["(5, 2)\n", undefined]);
    expect(tool_calls[2].output.result).toBe(7);
  });
});

describe("programs of one run", () => {
  test("share a folder in both languages, with the run's files, and in Python their variables", async () => {
    await using server = strict();
    const client = await server.client();
    const sales = await upload(client, "sales.csv", "1\n2\n3\n");
    const agent = await agentWith(client, [
      turn(
        call(
          "py",
          "import os\nrows = [int(row) for row in open('sales.csv')]\nos.makedirs('out')\nopen('out/total.txt', 'w').write(str(sum(rows)))\nsorted(os.listdir('/workspace'))",
        ),
      ),
      turn(
        call(
          "js",
          "workspace.write('sales.csv', workspace.text('sales.csv') + '4\\n'); [workspace.names(), workspace.text('out/total.txt'), input.text('sales.csv').length]",
        ),
      ),
      turn(call("py", "[rows, open('/mnt/data/sales.csv').read(), open('/input/sales.csv').read()]")),
      done,
    ]);
    const ran = await run(server, client, agent, { file_ids: [sales] });
    expect(results(ran)).toEqual([
      ["out", "sales.csv"],
      [["out/total.txt", "sales.csv"], "6", 6],
      [[1, 2, 3], "1\n2\n3\n4\n", "1\n2\n3\n"],
    ]);
    expect(ran.tool_calls.map(({ files = [] }: Body) => files.map(({ filename }: Body) => filename))).toEqual([
      ["total.txt"],
      ["sales.csv"],
      [],
    ]);
    const [first, second, third] = (await programsOf(client, ran.id)).map(({ workspace }) => workspace);
    expect(first).toMatchObject({
      shared_by: "run",
      given: [{ file_id: sales, path: "sales.csv", bytes: 6 }],
      changed: [{ path: "out/total.txt", bytes: 1 }],
      removed: [],
      variables: { bytes: expect.any(Number) },
    });
    expect(second).toMatchObject({ changed: [{ path: "sales.csv", bytes: 8 }], file_count: 2, bytes: 9 });
    expect(third.files.map(({ path }: Body) => path)).toEqual(["out/total.txt", "sales.csv"]);
  });

  test("of one turn run one after the other in their order, and none loses what another wrote", async () => {
    await using server = strict();
    const client = await server.client();
    const append = (name: string) =>
      call(
        "js",
        `workspace.write('log', (workspace.names().includes('log') ? workspace.text('log') : '') + '${name}')`,
      );
    const agent = await agentWith(client, [
      turn(
        append("a"),
        call("py", "open('log', 'a').write('b')\nx = 1"),
        append("c"),
        call("py", "open('log', 'a').write('d')\nx += 1"),
      ),
      turn(call("py", "[x, open('log').read()]")),
      done,
    ]);
    expect(results(await run(server, client, agent)).at(-1)).toEqual([2, "abcd"]);
  });

  test("share nothing with programs of another run, of a test, or if their tool says none", async () => {
    await using server = strict();
    const client = await server.client();
    const agent = await agentWith(client, [
      turn(call("js", "const before = workspace.names(); workspace.write('a', 'x'); before")),
      done,
    ]);
    expect(results(await run(server, client, agent))).toEqual([[]]);
    expect(results(await run(server, client, agent))).toEqual([[]]);
    const { data } = (await client.get("/v1/tools")).body;
    const js = data.find(({ name }: Body) => name === "js");
    const args = { arguments: { code: "typeof workspace" } };
    expect((await client.post(`/v1/tools/${js.id}/test`, args)).body.output.result).toBe("undefined");
    expect((await client.patch(`/v1/tools/${js.id}`, { workspace: "none" })).body.workspace).toBe("none");
    const other = await make(client, "agents", {
      name: "Other",
      instructions: "Work.",
      model: "test/script",
      tools: [js.id],
      model_settings: {
        script: [turn(call("js", "output.write('a', 'x')")), turn(call("js", "typeof workspace")), done],
      },
    });
    const ran = await run(server, client, other.id);
    expect(results(ran)).toEqual([null, "undefined"]);
    expect((await programsOf(client, ran.id))[0].workspace).toBeUndefined();
  });

  test("find files and variables in another process, after the one that ran the first program is gone", async () => {
    const folder = mkdtempSync(join(tmpdir(), "runnel-workspaces-"));
    const [path, copy] = [join(folder, "runnel.db"), join(folder, "copy.db")];
    const masterKey = crypto.getRandomValues(new Uint8Array(32));
    const { id, sharedId } = await (async () => {
      await using server = strict({ masterKey, db: openDatabase(path) });
      const client = await server.client();
      const agent = await agentWith(
        client,
        [
          turn(call("py", "x = {'a': 1}\ndef double(n): return 2 * n\nopen('a.txt', 'w').write('kept')")),
          turn(call("js", "workspace.text('a.txt')")),
          turn(call("py", "[x, double(4), open('a.txt').read()]")),
          done,
        ],
        { approval: { when: { type: "object", properties: { code: { pattern: "workspace.text" } } } } },
      );
      const waiting = await run(server, client, agent);
      expect(waiting.status).toBe("requires_action");
      // As a process that is killed now would leave them.
      for (const ending of ["", "-wal"]) copyFileSync(path + ending, copy + ending);
      return { id: waiting.id, sharedId: waiting.tool_calls[1].id };
    })();
    await using server = strict({ masterKey, db: openDatabase(copy) });
    await server.recover();
    const client = await server.client();
    await client.post(`/v1/runs/${id}/submit_tool_outputs`, {
      tool_outputs: [{ tool_call_id: sharedId, decision: "approve" }],
    });
    expect(results(await settledRun(server, client, id))).toEqual([4, "kept", [{ a: 1 }, 8, "kept"]]);
    rmSync(folder, { recursive: true });
  });

  test("that a crash interrupts run again in the folder that the last complete program left", async () => {
    const folder = mkdtempSync(join(tmpdir(), "runnel-workspaces-"));
    const [path, copy] = [join(folder, "runnel.db"), join(folder, "copy.db")];
    const masterKey = crypto.getRandomValues(new Uint8Array(32));
    const append = "workspace.write('log', (workspace.names().includes('log') ? workspace.text('log') : '') + 'x')";
    const busy = `${append}; for (const end = Date.now() + 1000; Date.now() < end; );`;
    const id = await (async () => {
      await using server = strict({ masterKey, db: openDatabase(path) });
      const client = await server.client();
      const script = [
        turn(call("js", append)),
        turn(call("js", busy)),
        turn(call("js", "workspace.text('log')")),
        done,
      ];
      const { body } = await client.post("/v1/runs", { agent_id: await agentWith(client, script), input: "Go" });
      const watch = server.watches.join(body.id);
      for (let seen = body; seen.tool_calls.length < 2; ) {
        await watch.next(1000);
        seen = (await client.get(`/v1/runs/${body.id}`)).body;
      }
      watch.leave();
      for (const ending of ["", "-wal"]) copyFileSync(path + ending, copy + ending);
      return body.id;
    })();
    await using server = strict({ masterKey, db: openDatabase(copy) });
    expect(await server.recover()).toBe(1);
    const ran = await settledRun(server, await server.client(), id);
    expect([ran.status, results(ran).at(-1)]).toEqual(["completed", "xx"]);
    rmSync(folder, { recursive: true });
  });

  test("tell the model which variables it has lost, instead of leaving it to an error", async () => {
    await using server = strict();
    const client = await server.client();
    const agent = await agentWith(client, [
      turn(call("py", "import sqlite3\ndb = sqlite3.connect(':memory:')\nx = 1")),
      done,
    ]);
    const [first] = (await run(server, client, agent)).tool_calls;
    expect(first.output.notes).toEqual(["These variables are not left for the next program: db."]);
  });

  test("leave nothing if a guardrail blocks their result, because it has the same content", async () => {
    await using server = strict();
    const client = await server.client();
    const guardrails = [
      { type: "blocked_terms", on: ["tool_output"], action: "block", config: { terms: ["secret word"] } },
    ];
    const agent = await agentWith(
      client,
      [
        turn(call("js", "workspace.write('a', 'secret word'); 'secret word'")),
        turn(call("js", "workspace.names()")),
        done,
      ],
      {},
      { guardrails },
    );
    const body = await run(server, client, agent);
    expect(JSON.stringify(body.tool_calls[0].error)).toContain("guardrail_blocked");
    if (body.tool_calls[1]) expect(body.tool_calls[1].output.result).toEqual([]);
    expect(contents(server)).toBe(0);
  });

  test("that are cancelled leave nothing", async () => {
    await using server = strict();
    const client = await server.client();
    const agent = await agentWith(client, [turn(call("js", "workspace.write('a', 'x'); for (;;);")), done], {
      timeout_ms: 30_000,
    });
    const { body } = await client.post("/v1/runs", { agent_id: agent, input: "Go" });
    const watch = server.watches.join(body.id);
    for (let seen = body; seen.tool_calls.length === 0; ) {
      await watch.next(1000);
      seen = (await client.get(`/v1/runs/${body.id}`)).body;
    }
    watch.leave();
    await client.post(`/v1/runs/${body.id}/cancel`);
    expect((await settledRun(server, client, body.id)).status).toBe("cancelled");
    expect([contents(server), blobs(server)]).toEqual([0, 0]);
  });

  test("have their contents deleted with the run and with its trace, but not artefacts", async () => {
    await using server = strict();
    const client = await server.client();
    const many = "for (let i = 0; i < 20; i++) workspace.write('f' + i, 'content ' + i)";
    const agent = await agentWith(client, [turn(call("js", many)), done]);
    const [one, two] = [await run(server, client, agent), await run(server, client, agent)];
    // Sixteen are artefacts, which stay; both runs share the contents.
    expect([contents(server), blobs(server)]).toEqual([40, 20]);
    expect(one.tool_calls[0].output.notes).toEqual([
      "4 more files are in the workspace only: a call returns 16 files at most.",
    ]);
    expect((await client.delete(`/v1/runs/${one.id}`)).status).toBe(200);
    expect([contents(server), blobs(server)]).toEqual([20, 20]);
    expect((await client.delete(`/v1/traces/${two.id}`)).status).toBe(200);
    expect([contents(server), blobs(server)]).toEqual([0, 16]);
    for (const { id } of one.tool_calls[0].files) await client.delete(`/v1/files/${id}`);
    expect(blobs(server)).toBe(16);
    for (const { id } of two.tool_calls[0].files) await client.delete(`/v1/files/${id}`);
    expect(blobs(server)).toBe(0);
  });
});

describe("a fork", () => {
  test("has the workspace of its point, and holds the contents that it needs", async () => {
    await using server = strict();
    const client = await server.client();
    const second = call("py", "x = 2\nopen('a.txt', 'w').write('second')");
    const agent = await agentWith(client, [
      turn(call("py", "x = 1\nopen('a.txt', 'w').write('first')")),
      turn(second),
      turn(call("py", "[x, open('a.txt').read()]")),
      done,
    ]);
    const ran = await run(server, client, agent);
    expect(results(ran).at(-1)).toEqual([2, "second"]);
    const { step_index } = (await programsOf(client, ran.id))[0];
    const fork = (id: string, body: object) => settled(server, client, `runs/${id}/fork`, { step_index, ...body });
    expect(results(await fork(ran.id, { tools: "live" })).at(-1)).toEqual([2, "second"]);
    expect(results(await fork(ran.id, { tools: "recorded_only" }))).toEqual(results(ran));
    const edits = (...tool_calls: object[]) => ({
      step_index: step_index + 1,
      edits: { model_output: { tool_calls } },
    });
    const look = edits(call("py", "[x, open('a.txt').read()]"));
    const edited = await fork(ran.id, { ...look, tools: "live" });
    expect(results(edited)[1]).toEqual([1, "first"]);
    // The result of an equal call is taken over, with what it changed.
    const taken = await fork(ran.id, { ...edits(second, call("py", "x + 10")), tools: "recorded_then_live" });
    expect(results(taken).slice(1, 3)).toEqual([6, 12]);
    await client.delete(`/v1/runs/${ran.id}`);
    expect(results(await fork(edited.id, { ...look, tools: "live" }))[1]).toEqual([1, "first"]);
  });

  test("of an imported record has no content of its workspace, and its model is told so", async () => {
    await using server = strict();
    const client = await server.client();
    const agent = await agentWith(client, [
      turn(call("js", "for (let i = 10; i < 30; i++) workspace.write('f' + i, 'content ' + i)")),
      turn(call("js", "[workspace.names().length]")),
      turn(call("js", "[workspace.names().length]")),
      done,
    ]);
    const ran = await run(server, client, agent);
    expect(results(ran)).toEqual([null, [20], [20]]);
    const capsule = await capsuleOf(server, client, ran.id);
    const before = contents(server);
    const { body: trace } = await importCapsule(server, client, capsule);
    const [first] = await programsOf(client, trace.run_id);
    expect(first.workspace).toMatchObject({ file_count: 20, shared_by: "run" });
    // A record may name any content, also that of others: it holds none.
    expect(contents(server)).toBe(before);
    const order = { step_index: first.step_index, agent: "current", tools: "live" };
    const { tool_calls } = await settled(server, client, `runs/${trace.run_id}/fork`, order);
    expect(tool_calls[1].output.result).toEqual([0]);
    expect(tool_calls[1].output.notes).toEqual([
      "20 files of the workspace are gone: f10, f11, f12, f13, f14 and others.",
    ]);
    // The next program is not told again.
    expect(tool_calls[2].output).toMatchObject({ result: [0] });
    expect(tool_calls[2].output.notes).toBeUndefined();
  });
});

describe("programs of one thread", () => {
  test("share files and variables over its runs; new inputs come in, and changed ones are not put back", async () => {
    await using server = strict();
    const client = await server.client();
    const template = await upload(client, "template.txt", "template");
    const agent = await agentWith(
      client,
      [
        turn(
          call(
            "py",
            "import os\nruns = globals().get('runs', 0) + 1\nopen('template.txt', 'a').write('!')\n[runs, sorted(os.listdir('.')), open('template.txt').read(), open('data.csv').read()]",
          ),
        ),
        done,
      ],
      { workspace: "thread", files: [template] },
    );
    const one = await run(server, client, agent, {
      thread_id: "new",
      file_ids: [await upload(client, "data.csv", "1")],
    });
    expect(results(one)).toEqual([[1, ["data.csv", "template.txt"], "template!", "1"]]);
    const { thread_id } = one;
    const two = await run(server, client, agent, { thread_id, file_ids: [await upload(client, "data.csv", "2")] });
    expect(results(two)).toEqual([[2, ["data.csv", "template.txt"], "template!!", "2"]]);
    // The first run's record is not needed for the thread's folder.
    await client.delete(`/v1/runs/${one.id}`);
    expect(results(await run(server, client, agent, { thread_id }))).toEqual([
      [3, ["data.csv", "template.txt"], "template!!!", "2"],
    ]);
    const [step] = await programsOf(client, two.id);
    expect(step.workspace).toMatchObject({ shared_by: "thread", changed: [{ path: "template.txt" }] });
    // Another thread has its own, and a run without one only its own.
    const fresh = await run(server, client, agent, {
      thread_id: "new",
      file_ids: [await upload(client, "data.csv", "3")],
    });
    expect(results(fresh)[0][0]).toBe(1);
    const single = await run(server, client, agent, { file_ids: [await upload(client, "data.csv", "4")] });
    expect((await programsOf(client, single.id))[0].workspace.shared_by).toBe("run");
  });

  test("go on if a new input has the name of a folder that a program made", async () => {
    await using server = strict();
    const client = await server.client();
    const code =
      "import os\nos.makedirs('report', exist_ok=True)\nopen('report/a', 'w').write('a')\nos.listdir('/input')";
    const agent = await agentWith(client, [turn(call("py", code)), done], { workspace: "thread" });
    const { thread_id } = await run(server, client, agent, { thread_id: "new" });
    const two = await run(server, client, agent, { thread_id, file_ids: [await upload(client, "report", "x")] });
    expect(results(two)).toEqual([["report"]]);
    expect(two.tool_calls[0].output.notes).toEqual([
      "1 input files do not fit into the workspace: they are only readable as input.",
    ]);
  });

  test("have their contents deleted with the thread and its runs, and replaced ones when no run needs them", async () => {
    await using server = strict();
    const client = await server.client();
    const code =
      "const n = workspace.names().length; for (let i = 0; i < 20; i++) workspace.write('f' + i, 'content ' + n + ' ' + i)";
    const agent = await agentWith(client, [turn(call("js", code)), done], { workspace: "thread" });
    const one = await run(server, client, agent, { thread_id: "new" });
    const two = await run(server, client, agent, { thread_id: one.thread_id });
    expect([contents(server), blobs(server)]).toEqual([20 + 40 + 20, 40]);
    await client.delete(`/v1/runs/${one.id}`);
    await client.delete(`/v1/runs/${two.id}`);
    expect(contents(server)).toBe(20);
    expect((await client.delete(`/v1/threads/${one.thread_id}`)).status).toBe(200);
    expect([contents(server), blobs(server)]).toEqual([0, 32]);
  });
});

test("a tool says which programs share its folder: those of the run, if it says nothing", async () => {
  await using server = strict();
  const client = await server.client();
  const tool = await make(client, "tools", { name: "a", type: "code" });
  expect(tool.workspace).toBe("run");
  for (const workspace of ["thread", "none", "run"]) {
    expect((await client.patch(`/v1/tools/${tool.id}`, { workspace })).body.workspace).toBe(workspace);
    expect((await client.get(`/v1/tools/${tool.id}`)).body.workspace).toBe(workspace);
  }
  const { status, body } = await client.post("/v1/tools", { name: "b", type: "code", workspace: "project" });
  expect([status, body.error.param]).toEqual([400, "workspace"]);
  const http = await client.post("/v1/tools", { name: "c", url: "https://example.com", workspace: "run" });
  expect([http.status, http.body.error.param]).toEqual([400, "workspace"]);
});
