import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { npmWith } from "../scripts/npm-tool.ts";
import { inProject } from "../scripts/root.ts";
import { build } from "../server/lib/build-info.ts";
import { freePort } from "../server/testing/free-port.ts";
import { createAgent } from "./fixtures.ts";
import { type Runnel, runProgram, startRunnel } from "./harness.ts";
import { uiModules } from "./ui-clients.ts";
import { waitUntil } from "./until.ts";

// The programs of the pages about Express and Next.js, as printed, in node and over TLS.

const expressModules = await npmWith("web-express-5.3.0", ["express@5.3.0"]);
const chatModules = await uiModules();
if (!expressModules || !chatModules) console.warn("skipped: web frameworks (no npm registry)");

const pageOf = (name: string): string => readFileSync(inProject("server/docs/guides", `${name}.md`), "utf8");
const blocksOf = (markdown: string, language: string): string[] =>
  [...markdown.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(([, code]) => code!);

let server: Runnel;
let agent: string;
/** Its `node_modules` has the client of the server; folders in it add packages of their own. */
const folder = mkdtempSync(join(tmpdir(), "runnel-web-"));
beforeAll(async () => {
  server = await startRunnel();
  agent = await createAgent(server, "test/echo");
  writeFileSync(join(folder, "ca.pem"), server.ca ?? "");
  const archive = await server.fetch(`/docs/clients/runnel-sdk-${build.version}.tgz`, { key: null });
  await new Bun.Archive(await archive.bytes()).extract(folder);
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(join(folder, "package"), join(folder, "node_modules/runnel-sdk"));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes files into a folder that has these packages. */
function place(name: string, modules: string, files: Record<string, string>): string {
  const cwd = join(folder, name);
  for (const [path, source] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), source);
  }
  symlinkSync(modules, join(cwd, "node_modules"));
  return cwd;
}

const environment = (more: Record<string, string> = {}): Record<string, string> => ({
  PATH: process.env.PATH ?? "",
  HOME: folder,
  RUNNEL_URL: server.url,
  RUNNEL_API_KEY: server.keys.test,
  RUNNEL_CACERT: join(folder, "ca.pem"),
  RUNNEL_AGENT: agent,
  ...more,
});

/** Returns what the tokens of a stream say. */
const wordsOf = (stream: string): string =>
  [...stream.matchAll(/^event: token\n(?:id: .*\n)?data: (.*)$/gm)].map(([, data]) => JSON.parse(data!).delta).join("");

describe.skipIf(!expressModules)("the Express server of its page", () => {
  let child: Bun.Subprocess;
  let url = "";
  beforeAll(async () => {
    const [whole, text] = blocksOf(pageOf("express"), "javascript") as [string, string];
    const errorHandler = /^\/\/ Express would send/m;
    expect(whole).toMatch(errorHandler);
    const program = whole.replace(errorHandler, (line) => `${text}\n${line}`);
    const cwd = place("express", expressModules!, { "server.mjs": program });
    const port = freePort();
    url = `http://127.0.0.1:${port}`;
    child = Bun.spawn(["node", "server.mjs"], {
      cwd,
      env: environment({ PORT: String(port) }),
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    });
    await waitUntil(async () => (await fetch(url).catch(() => null)) !== null);
  });
  afterAll(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });

  const post = (path: string, input: string): Promise<Response> =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ input }),
    });

  test("passes a run's events on, for its user", async () => {
    const response = await post("/ask", "Hello!");
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toContain("no-transform");
    const stream = await response.text();
    expect(wordsOf(stream)).toBe("Hello!");
    expect(stream).toContain("event: run.completed\n");
    const [run] = /run_\w+/.exec(stream)!;
    expect((await server.get(`/v1/runs/${run}`)).body.user_id).toBe("user-42");
  });

  test("goes on with a run after the last event that a page has, and shows no run of another user", async () => {
    const [run] = /run_\w+/.exec(await (await post("/ask", "Again.")).text())!;
    const rest = await fetch(`${url}/runs/${run}/events`, { headers: { "last-event-id": "1" } });
    const events = await rest.text();
    expect(events).not.toContain("event: run.created\n");
    expect(events).toContain("event: run.completed\n");
    const other = await server.post("/v1/runs?wait=60", { agent_id: agent, input: "Mine.", user_id: "another" });
    for (const id of [other.body.id, "run_none"]) expect((await fetch(`${url}/runs/${id}/events`)).status).toBe(404);
  });

  test("sends the model's words alone, and the whole text at the end", async () => {
    const stream = await (await post("/text", "Only words.")).text();
    expect(stream.trimEnd().split("\n\n").at(-1)).toBe('event: end\ndata: "Only words."');
    expect(stream).not.toContain("run.completed");
  });

  test("says nothing of runnel when it is refused", async () => {
    const refused = await post("/ask", "");
    expect({ status: refused.status, body: await refused.json() }).toEqual({
      status: 502,
      body: { error: "No answer at the moment." },
    });
  });
});

describe.skipIf(!chatModules)("the route handlers of the page about Next.js", () => {
  const blocks = pageOf("nextjs").matchAll(/^`(app\/[^`]+\.tsx?)`[^\n]*(?:\n[^\n]+)*\n\n```tsx\n([\s\S]*?)^```$/gm);
  const files = Object.fromEntries([...blocks].map(([, path, code]) => [path!, code!]));

  /** Bundles a program with the page's files, and returns what it prints in node. */
  async function run(name: string, program: string): Promise<string> {
    const cwd = place(name, chatModules!, { ...files, "main.mjs": program });
    const bundle = [process.execPath, "build", "main.mjs", "--target=node", "--packages=external", "--outfile=out.mjs"];
    expect(await runProgram(bundle, cwd, environment())).toMatchObject({ code: 0 });
    const { code, stdout, stderr } = await runProgram(["node", "out.mjs"], cwd, environment());
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    return stdout.trim();
  }

  test("answer `useChat` with a thread of the user, and let a page have only the fields of a chat", async () => {
    const said = await run(
      "chat",
      `
import { DefaultChatTransport, readUIMessageStream } from "ai";
import { POST } from "./app/api/chat/route.ts";
import { GET } from "./app/api/chat/[id]/stream/route.ts";

const transport = new DefaultChatTransport({
  api: "http://page/api/chat",
  body: { user_id: "another", run: { overrides: { additional_instructions: "Be rude." } } },
  fetch: (url, init) => POST(new Request(url, init)),
});
const messages = [{ id: "m1", role: "user", parts: [{ type: "text", text: "Hello!" }] }];
const stream = await transport.sendMessages({ chatId: "one", trigger: "submit-message", messages });
let answer;
for await (const message of readUIMessageStream({ stream })) answer = message;
const later = await GET(new Request("http://page"), { params: Promise.resolve({ id: "one" }) });
process.stdout.write(JSON.stringify({ id: answer.id, text: answer.parts.find(({ type }) => type === "text").text, later: later.status }));
`,
    );
    const { id, text, later } = JSON.parse(said);
    expect({ text, later }).toEqual({ text: "Hello!", later: 204 });
    const { body } = await server.get(`/v1/runs/${id}`);
    expect(body).toMatchObject({ status: "completed", user_id: "user-42", agent_id: agent });
    const record = await server.get(`/v1/traces/${id}?include=raw`);
    expect(JSON.stringify(record.body)).not.toContain("Be rude.");
  });

  test("give a page a token for its user and the agent alone", async () => {
    const said = await run(
      "token",
      `
import { POST } from "./app/api/token/route.ts";
process.stdout.write(JSON.stringify(await (await POST()).json()));
`,
    );
    const { token, expires_at } = JSON.parse(said);
    expect(Date.parse(expires_at)).toBeGreaterThan(Date.now());
    const send = (body: object) =>
      server.fetch("/v1/runs?wait=60", { method: "POST", key: token, body: JSON.stringify(body) });
    const made = await send({ agent_id: agent, input: "Hello!" });
    expect(await made.json()).toMatchObject({ user_id: "user-42", output: "Hello!" });
    const other = await createAgent(server, "test/echo");
    const refused = await send({ agent_id: other, input: "Hello!" });
    expect(await refused.json()).toMatchObject({
      error: { param: "agent_id", message: "agent_id: There is no such agent." },
    });
  });
});
