import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { skillText, zipOf } from "../server/testing/archives.ts";
import { type CommandResult, type Json, type Runnel, startRunnel } from "./harness.ts";

// Agents as files: the executable's commands against a running server.

const files = {
  "agents/refund-desk.yaml": `object: agent
name: Refund desk
instructions: |
  You decide on refunds.

  Write {{x}} as it is.
model: test/echo
tools: [look_up_order, ask_lawyer]
memory:
  stores:
    - memory: Handbook
`,
  "agents/lawyer.yaml": `object: agent
name: Lawyer
instructions: You know the law.
model: test/echo
tools: [ask_refund_desk]
`,
  "tools/look-up-order.yaml": `object: tool
name: look_up_order
url: https://example.com/orders/{id}
method: GET
parameters: {properties: {id: {type: string}}}
headers: {authorization: "Bearer {{secret.ORDERS}}"}
`,
  "tools/ask-lawyer.json": JSON.stringify({ object: "tool", type: "agent", name: "ask_lawyer", agent: "Lawyer" }),
  "tools/ask-refund-desk.json": JSON.stringify({
    object: "tool",
    type: "agent",
    name: "ask_refund_desk",
    agent: "Refund desk",
  }),
  "handbook.yaml": "object: memory\nname: Handbook\nkind: vector\nembedding: {model: builtin/use-lite-512}\n",
  "daily.yml":
    'object: schedule\nname: daily\nagent: Refund desk\ninput: Report.\ncron: "0 8 * * *"\ntimezone: Europe/Berlin\n',
  "hook.yaml": "object: webhook\nurl: https://example.com/hook\nevents: [run.completed]\n",
};

function makeFolder(): Disposable & { path: string; write(name: string, text: string): void } {
  const path = mkdtempSync(join(tmpdir(), "runnel-files-"));
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  return { path, write, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

const apply = (server: Runnel, ...args: string[]): Promise<CommandResult> => server.command("apply", ...args);
const list = async (server: Runnel, path: string): Promise<Json[]> => (await server.get(path)).body.data;

async function setSecret(server: Runnel): Promise<void> {
  const { status } = await server.fetch("/v1/secrets/ORDERS", { method: "PUT", body: '{"value":"canary-1"}' });
  expect(status).toBe(200);
}

test("a project becomes what its files say, by a plan first, and a second time nothing changes", async () => {
  await using server = await startRunnel();
  using folder = makeFolder();
  const early = await apply(server, folder.path, "--dry-run");
  expect([early.code, early.stdout]).toEqual([1, ""]);
  expect(early.stderr).toContain("tools/look-up-order.yaml: headers.authorization: There is no secret ORDERS.");

  await setSecret(server);
  const plan = await apply(server, folder.path, "--dry-run");
  expect([plan.code, plan.stderr]).toEqual([3, ""]);
  expect(plan.stdout).toContain("8 to create, 0 to update, 0 unchanged. Nothing was changed.");
  expect(await list(server, "/v1/agents")).toEqual([]);

  const secrets = join(folder.path, "new-secrets.txt");
  const applied = await apply(server, folder.path, "--secrets", secrets);
  expect([applied.code, applied.stderr]).toEqual([0, ""]);
  expect(applied.stdout).toContain("8 created, 0 updated, 0 unchanged.");
  expect(applied.stdout).not.toContain("whsec_");
  expect(
    readFileSync(secrets, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).name)
      .sort(),
  ).toEqual(["https://example.com/hook", "look_up_order"]);
  expect(statSync(secrets).mode & 0o077).toBe(0);
  const [desk] = await list(server, "/v1/agents?name=Refund%20desk");
  const agent = (await server.get(`/v1/agents/${desk.id}`)).body;
  expect(agent.tools.map(({ name }: Json) => name)).toEqual(["look_up_order", "ask_lawyer"]);
  expect(agent.memory.stores).toHaveLength(1);

  const again = await apply(server, folder.path, "--json");
  expect(JSON.parse(again.stdout)).toMatchObject({ dry_run: false, things: Array(8).fill({ outcome: "unchanged" }) });
  expect((await server.get(`/v1/agents/${desk.id}`)).body.version).toBe(agent.version);

  folder.write("agents/lawyer.yaml", files["agents/lawyer.yaml"].replace("know the law", "are a lawyer"));
  const changed = await apply(server, folder.path);
  expect(changed.stdout).toContain("~ agent Lawyer: instructions\n");
  expect(changed.stdout).toContain("0 created, 1 updated, 7 unchanged.");
});

test("an exported project is applied to another server, and has no secrets", async () => {
  await using server = await startRunnel();
  using folder = makeFolder();
  await setSecret(server);
  expect((await apply(server, folder.path)).code).toBe(0);
  const out = join(folder.path, "out");
  const exported = await server.command("export", out);
  expect([exported.code, exported.stderr]).toEqual([0, ""]);
  const texts = readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
  expect(texts).toHaveLength(8);
  expect(texts.join("\n")).not.toMatch(/canary|whsec_|(agt|tool|mem|sch|whk)_[0-9a-z]{26}/);
  expect((await apply(server, out, "--dry-run")).code).toBe(0);

  await using other = await startRunnel();
  const masked = await apply(other, out);
  expect([masked.code, masked.stderr]).toEqual([1, expect.stringContaining("There is no value to keep.")]);
  const tool = join(out, "tools/look-up-order.yaml");
  writeFileSync(tool, readFileSync(tool, "utf8").replace('"********"', '"Bearer {{secret.ORDERS}}"'));
  await setSecret(other);
  expect((await apply(other, out)).code).toBe(0);
  expect((await other.command("export", join(folder.path, "third"))).code).toBe(0);
  const third = (name: string) => readFileSync(join(folder.path, "third", name), "utf8");
  expect(third("agents/refund-desk.yaml")).toBe(readFileSync(join(out, "agents/refund-desk.yaml"), "utf8"));
});

test("handoffs, skills, variables and snippets of an agent are exported by their names", async () => {
  await using server = await startRunnel();
  using folder = makeFolder();
  const post = async (path: string, body: object): Promise<Json> => {
    const response = await server.fetch(`/v1/${path}`, { method: "POST", body: JSON.stringify(body) });
    const made: Json = await response.json();
    expect([response.status, made.error ?? null]).toEqual([201, null]);
    return made;
  };
  const archive = zipOf([{ path: "letters/SKILL.md", content: skillText("letters", "Says how letters are written.") }]);
  await post("skills", { content_base64: archive.toBase64() });
  await post("snippets", { name: "greeting", text: "Greet {{customer}}." });
  const lawyer = await post("agents", { name: "Lawyer", instructions: "Help.", model: "test/echo" });
  const desk = await post("agents", {
    name: "Desk",
    instructions: "{{> greeting}}",
    model: "test/echo",
    variables: [{ name: "customer", type: "string", default: "you" }],
    snippets: ["greeting"],
    skills: ["letters"],
    handoffs: [{ agent_id: lawyer.id, filter: "last_message" }],
    tool_loading: "deferred",
  });
  const back = JSON.stringify({ handoffs: [desk.id] });
  expect((await server.fetch(`/v1/agents/${lawyer.id}`, { method: "PATCH", body: back })).status).toBe(200);
  const out = join(folder.path, "out");
  expect(await server.command("export", out)).toMatchObject({ code: 0, stderr: "" });
  const text = readFileSync(join(out, "agents/desk.yaml"), "utf8");
  expect(text).toContain("handoffs:\n  - agent: Lawyer\n    filter: last_message\n");
  expect(text).toContain("skills:\n  - letters\n");
  expect(text).not.toMatch(/(agt|skl|skill)_[0-9a-z]{26}/);
  const same = await apply(server, out, "--dry-run");
  expect([same.code, same.stderr]).toEqual([0, ""]);
  for (const { id } of [desk, lawyer]) await server.fetch(`/v1/agents/${id}`, { method: "DELETE" });
  const again = await apply(server, out);
  expect([again.code, again.stderr]).toEqual([0, ""]);
  expect((await apply(server, out, "--dry-run")).code).toBe(0);
});

test("an export writes what it can, and names the things that share a name", async () => {
  await using server = await startRunnel();
  using folder = makeFolder();
  for (const name of ["Twin", "Twin", "Alone"])
    await server.fetch("/v1/agents", {
      method: "POST",
      body: JSON.stringify({ name, instructions: "", model: "test/echo" }),
    });
  const out = join(folder.path, "out");
  const exported = await server.command("export", out);
  expect([exported.code, exported.stderr.trim()]).toEqual([
    1,
    "Not written, because several have the same name: agent Twin.",
  ]);
  expect(readdirSync(join(out, "agents"))).toEqual(["alone.yaml"]);
});

test("a wrong file changes nothing, and a name that two agents have is refused with both ids", async () => {
  await using server = await startRunnel();
  using folder = makeFolder();
  await setSecret(server);
  folder.write("broken.yaml", "object: agent\nname: [");
  expect(await apply(server, folder.path)).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining("broken.yaml: "),
  });
  expect(await list(server, "/v1/memory")).toEqual([]);
  folder.write("broken.yaml", "object: agent\nname: Third\ninstructions: Help.\nmodel: test/echo\ntools: [nothing]\n");
  expect((await apply(server, folder.path)).stderr).toContain('broken.yaml: tools[0]: There is no tool "nothing".');
  rmSync(join(folder.path, "broken.yaml"));
  for (let made = 0; made < 2; made++)
    await server.fetch("/v1/agents", {
      method: "POST",
      body: '{"name":"Lawyer","instructions":"","model":"test/echo"}',
    });
  const twice = await apply(server, folder.path);
  expect(twice.code).toBe(1);
  expect(twice.stderr).toMatch(/agent Lawyer \(agt_\w+, agt_\w+\)/);
  expect(await list(server, "/v1/tools")).toEqual([]);
});
