import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { skillText, zipOf } from "../server/testing/archives.ts";
import { type CommandResult, executable, type Json, type Runnel, startRunnel } from "./harness.ts";

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

/** A project with a thing of each kind, none of which needs a secret. */
const everything = {
  "prompts/greeting.md":
    "---\nobject: snippet\nname: greeting\ndescription: Opens a letter.\n---\n\nDear {{customer}},\n",
  "snippets/tone.yaml": 'object: snippet\nname: tone\ntext: "Be  kind. \\n\\n- yes\\n"\nmetadata: {owner: "no"}\n',
  "skills/letters/SKILL.md": skillText("letters", "Says how letters are written."),
  "skills/letters/references/limits.yaml": "object: agent\nlimit: 100\r\n",
  "skills/letters/assets/logo.bin": "\u0000\u0001\r\n",
  "agents/desk.yaml": `object: agent
name: Desk
instructions: "{{> greeting}} {{> tone}}"
model: test/echo
variables: [{name: customer, type: string, default: you}]
snippets: [greeting, tone@1]
skills: [letters]
tools: [note]
handoffs: [{agent: Lawyer, filter: last_message}]
memory: {stores: [{memory: Facts}]}
`,
  "agents/lawyer.yaml": `object: agent
name: Lawyer
instructions: You know the law.
model: test/echo
skills: [{name: letters, version: 1}]
handoffs: [{agent: Desk}]
`,
  "tools/note.yaml": "object: tool\nname: note\ntype: client\ndescription: Notes it down.\n",
  "facts.yaml": "object: memory\nname: Facts\nkind: kv\n",
  "triggers/issues.yaml": `object: trigger
name: New issues
agent: Desk
verification: github
input: "Issue {{body.number}}: {{body.title}}"
filter: [{path: headers.x-github-event, in: [issues]}, {path: body.draft, not_in: [true, 1, "x"]}]
thread: body.number
budget: {max_cost_usd: 0.5, max_total_tokens: 1000}
`,
  "triggers/paid.json": JSON.stringify({ object: "trigger", name: "Paid", agent: "Lawyer", verification: "stripe" }),
  "daily.yml":
    'object: schedule\nname: daily\nagent: Desk\ninput: Report.\ncron: "0 8 * * *"\ntimezone: Europe/Berlin\nvariables: {customer: Ann}\n',
  "hook.yaml": "object: webhook\nurl: https://example.com/hook\nevents: [run.completed]\n",
};

const kindsOfAll = ["snippets", "skills", "memory", "tools", "agents", "schedules", "triggers", "webhooks"];

interface Folder extends Disposable {
  path: string;
  write(name: string, text: string): void;
}

function makeFolder(contents: Record<string, string> = files): Folder {
  const path = mkdtempSync(join(tmpdir(), "runnel-files-"));
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  };
  for (const [name, text] of Object.entries(contents)) write(name, text);
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

/** Paths and contents of all files of a folder. */
const contentsOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [relative(folder, path), readFileSync(path).toString("base64")]),
  );

/** Names of all things of a project, by kind. */
async function namesIn(server: Runnel): Promise<Record<string, string[]>> {
  const names: Record<string, string[]> = {};
  for (const kind of kindsOfAll)
    names[kind] = (await list(server, `/v1/${kind}`)).map(({ name, url }: Json) => name ?? url).sort();
  return names;
}

const allNames = {
  snippets: ["greeting", "tone"],
  skills: ["letters"],
  memory: ["Facts"],
  tools: ["note"],
  agents: ["Desk", "Lawyer"],
  schedules: ["daily"],
  triggers: ["New issues", "Paid"],
  webhooks: ["https://example.com/hook"],
};

test("a project with a thing of each kind is exported, applied to an empty one, and exported the same", async () => {
  await using first = await startRunnel();
  await using second = await startRunnel();
  using folder = makeFolder(everything);
  const plan = await apply(first, folder.path, "--dry-run");
  expect([plan.code, plan.stderr]).toEqual([3, ""]);
  expect(plan.stdout).toContain("11 to create, 0 to update, 0 unchanged. Nothing was changed.");
  expect(await namesIn(first)).toEqual(Object.fromEntries(kindsOfAll.map((kind) => [kind, []])));
  const applied = await apply(first, folder.path);
  expect([applied.code, applied.stderr]).toEqual([0, ""]);
  expect(await namesIn(first)).toEqual(allNames);
  for (const flags of [["--dry-run"], ["--json"]]) {
    const again = await apply(first, folder.path, ...flags);
    expect([again.code, again.stdout]).toEqual([0, expect.not.stringMatching(/"(created|updated)"|^[+~]/m)]);
  }

  const [a, b] = [join(folder.path, "../a"), join(folder.path, "../b")].map((path) => mkdtempSync(path));
  try {
    expect(await first.command("export", a!)).toMatchObject({ code: 0, stderr: "" });
    expect(await apply(second, a!)).toMatchObject({ code: 0, stderr: "" });
    expect(await namesIn(second)).toEqual(allNames);
    expect(await second.command("export", b!)).toMatchObject({ code: 0, stderr: "" });
    expect(contentsOf(b!)).toEqual(contentsOf(a!));
    expect(Object.keys(contentsOf(a!))).toHaveLength(13);
    const skill = readdirSync(join(a!, "skills/letters"), { recursive: true }).map(String).sort();
    expect(skill).toEqual(["SKILL.md", "assets", "assets/logo.bin", "references", "references/limits.yaml"]);
    for (const name of skill.filter((path) => path.includes(".")))
      expect(readFileSync(join(a!, "skills/letters", name), "utf8")).toBe(
        everything[`skills/letters/${name}` as keyof typeof everything],
      );
    // A folder that was written by hand stays as it is, also the Markdown file.
    expect(await first.command("export", folder.path)).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(join(folder.path, "prompts/greeting.md"), "utf8")).toBe(everything["prompts/greeting.md"]);
    expect((await apply(first, folder.path, "--dry-run")).code).toBe(0);
  } finally {
    for (const path of [a, b]) rmSync(path!, { recursive: true });
  }
});

test("an apply that is killed after any of its changes is completed by the next one", async () => {
  await using server = await startRunnel();
  using folder = makeFolder(everything);
  let child: Bun.Subprocess | null = null;
  let changes = 0;
  // Performs one change, and kills the command before it hears of it.
  using proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const isChange = request.method !== "GET" && !search.includes("dry_run");
      const body = request.method === "GET" ? undefined : await request.bytes();
      const headers = { authorization: request.headers.get("authorization")!, "content-type": "application/json" };
      if (pathname === "/v1/skills") headers["content-type"] = "application/octet-stream";
      const answer = await server.fetch(`${pathname}${search}`, { method: request.method, headers, body });
      const bytes = await answer.bytes();
      if (isChange && JSON.parse(Buffer.from(bytes).toString()).outcome !== "unchanged") {
        changes++;
        child?.kill("SIGKILL");
      }
      return new Response(bytes, { status: answer.status, headers: { "content-type": "application/json" } });
    },
  });
  let code: number | null = null;
  for (let round = 0; code !== 0 && round < 40; round++) {
    child = Bun.spawn([executable, "apply", folder.path, "--url", proxy.url.href], {
      env: { ...process.env, RUNNEL_API_KEY: server.keys.test },
      cwd: server.cwd,
      stdout: "ignore",
      stderr: "ignore",
    });
    code = await child.exited;
  }
  expect(code).toBe(0);
  expect(changes).toBeGreaterThan(10);
  expect(await namesIn(server)).toEqual(allNames);
  const [skill] = await list(server, "/v1/skills");
  expect(skill.version).toBe(1);
  expect((await apply(server, folder.path, "--dry-run")).code).toBe(0);
});

test("a skill gets a new version only if a file of it differs", async () => {
  await using server = await startRunnel();
  using folder = makeFolder(everything);
  const secrets = join(folder.path, "secrets.txt");
  expect((await apply(server, folder.path, "--secrets", secrets)).code).toBe(0);
  folder.write("skills/letters/.DS_Store", "x");
  folder.write("skills/letters/SKILL.md", everything["skills/letters/SKILL.md"]);
  expect((await apply(server, folder.path, "--dry-run")).code).toBe(0);

  rmSync(join(folder.path, "skills/letters/assets"), { recursive: true });
  folder.write("skills/letters/references/limits.yaml", "limit: 200\n");
  const changed = await apply(server, folder.path);
  expect([changed.code, changed.stderr]).toEqual([0, ""]);
  expect(changed.stdout).toContain("~ skill letters: assets/logo.bin, references/limits.yaml\n");
  expect(changed.stdout).toContain("0 created, 1 updated, 10 unchanged.");
  const [skill] = await list(server, "/v1/skills");
  expect([skill.version, skill.files]).toEqual([2, 2]);

  folder.write("skills/letters/old.md", "Only here.");
  expect((await server.command("export", folder.path)).code).toBe(0);
  expect(readdirSync(join(folder.path, "skills/letters")).sort()).toEqual([".DS_Store", "SKILL.md", "references"]);
});

test("an agent that names a deleted skill is exported without it, and the files are applied again", async () => {
  await using server = await startRunnel();
  using folder = makeFolder(everything);
  expect((await apply(server, folder.path)).code).toBe(0);
  const [skill] = await list(server, "/v1/skills");
  expect((await server.delete(`/v1/skills/${skill.id}`)).status).toBe(200);
  const out = join(folder.path, "out");
  expect(await server.command("export", out)).toMatchObject({ code: 0, stderr: "" });
  expect(readFileSync(join(out, "agents/desk.yaml"), "utf8")).not.toContain("skills");
  expect(await apply(server, out)).toMatchObject({ code: 0, stderr: "" });
  expect((await apply(server, out, "--dry-run")).code).toBe(0);
});

test("a secrets file that cannot be written is refused before a secret is made", async () => {
  await using server = await startRunnel();
  using folder = makeFolder(everything);
  const refused = await apply(server, folder.path, "--secrets", join(folder.path, "nowhere/secrets.txt"));
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("cannot be written")]);
  expect(await list(server, "/v1/snippets")).toEqual([]);
});

test("the secret of a new trigger is written to the secrets file alone, and a second apply keeps it", async () => {
  await using server = await startRunnel();
  using folder = makeFolder(everything);
  const secrets = join(folder.path, "secrets.txt");
  const first = await apply(server, folder.path, "--secrets", secrets);
  const lines = readFileSync(secrets, "utf8").trim().split("\n");
  const { signing_secret: secret, url } = lines
    .map((line) => JSON.parse(line))
    .find(({ object }) => object === "trigger");
  folder.write(
    "triggers/issues.yaml",
    // A part that is left out is gone, as a whole field is.
    everything["triggers/issues.yaml"].replace(", max_total_tokens: 1000", "").replace("thread: body.number\n", ""),
  );
  const second = await apply(server, folder.path, "--secrets", secrets);
  expect(second.stdout).toContain("~ trigger New issues: thread, budget\n");
  expect(first.stdout + first.stderr + second.stdout + second.stderr).not.toContain(secret);
  expect(readFileSync(secrets, "utf8").trim().split("\n")).toEqual(lines);
  const body = JSON.stringify({ number: 7, title: "It breaks" });
  const headers = {
    "content-type": "application/json",
    "x-github-event": "issues",
    "x-github-delivery": "one",
    "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
  };
  const sent = await server.fetch(new URL(url).pathname, { method: "POST", key: null, headers, body });
  expect([sent.status, await sent.json()]).toEqual([202, expect.objectContaining({ outcome: "started" })]);
  const out = join(folder.path, "out");
  expect((await server.command("export", out)).code).toBe(0);
  for (const content of Object.values(contentsOf(out)))
    expect(Buffer.from(content, "base64").toString()).not.toContain(secret);
  rmSync(out, { recursive: true });

  folder.write("triggers/issues.yaml", `${everything["triggers/issues.yaml"]}secret: abcdefghijklmnop\n`);
  const refused = await apply(server, folder.path);
  expect([refused.code, refused.stdout]).toEqual([2, ""]);
  expect(refused.stderr).toContain("triggers/issues.yaml: A trigger has no field secret. --secrets writes");
  folder.write("triggers/issues.yaml", everything["triggers/issues.yaml"].replace("github", "slack"));
  expect((await apply(server, folder.path)).stderr).toContain("its verification cannot change");
});

test("a snippet and the variables of its agents change together, whichever comes first", async () => {
  await using server = await startRunnel();
  using folder = makeFolder(everything);
  expect((await apply(server, folder.path)).code).toBe(0);
  const rename = (name: string) => {
    for (const path of ["prompts/greeting.md", "agents/desk.yaml", "daily.yml"] as const)
      folder.write(path, everything[path].replaceAll("customer", name));
  };
  rename("client");
  const plan = await apply(server, folder.path, "--dry-run");
  expect([plan.code, plan.stderr]).toEqual([3, ""]);
  expect(plan.stdout).toContain("~ snippet greeting: text\n");
  expect(plan.stdout).toContain("~ agent Desk: variables\n");
  expect(await apply(server, folder.path)).toMatchObject({ code: 0, stderr: "" });
  expect((await apply(server, folder.path, "--dry-run")).code).toBe(0);
  const [desk] = await list(server, "/v1/agents?name=Desk");
  expect(desk.variables.map(({ name }: Json) => name)).toEqual(["client"]);

  appendFileSync(join(folder.path, "prompts/greeting.md"), "{{nothing}}\n");
  const wrong = await apply(server, folder.path);
  expect([wrong.code, wrong.stdout]).toEqual([1, ""]);
  expect(wrong.stderr).toContain("agents/desk.yaml: snippets[0]: {{nothing}} is no variable of the agent");
});

test("what is wrong with a folder is said before anything is sent", async () => {
  await using server = await startRunnel();
  const refusal = async (contents: Record<string, string>, prepare = (_: Folder): void => {}) => {
    using folder = makeFolder({ "tool.yaml": "object: tool\nname: note\ntype: client\n", ...contents });
    prepare(folder);
    const { code, stdout, stderr } = await apply(server, folder.path);
    expect([code, stdout]).toEqual([2, ""]);
    return stderr;
  };
  const skill = { "skills/letters/SKILL.md": skillText("letters") };
  const link = (from: string, to: string) => (folder: Folder) => symlinkSync(to, join(folder.path, from));
  expect(await refusal(skill, link("skills/letters/passwd", "/etc/passwd"))).toContain(
    'skills/letters: "passwd" is a link.',
  );
  expect(await refusal({}, link("more", "/etc"))).toContain("more: The link leads out of the folder.");
  expect(await refusal({ "skills/other/SKILL.md": skillText("letters") })).toContain("its folder is");
  expect(await refusal({ "skills/letters/skill.md": skillText("letters") })).toContain("in capital letters");
  expect(await refusal({ ...skill, "skills/letters/a\\b": "x" })).toContain("backslash");
  expect(await refusal({ ...skill, "b/letters/SKILL.md": skillText("letters") })).toContain("skill letters is also in");
  expect(await refusal({ "a.yaml": `object: snippet\nname: a\ntext: ${"x".repeat(10 * 2 ** 20)}\n` })).toContain(
    "a.yaml: The file has more than 4194304 bytes.",
  );
  expect(await refusal({ "a.yaml": "object: snippet\nname: a\ntext: '{{> b}}'\n" })).toContain("a.yaml: text: ");
  expect(
    await refusal({
      "a.yaml": "object: agent\nname: A\ninstructions: Help.\nmodel: test/echo\n",
      "b.yaml": "object: trigger\nname: B\nagent: A\nverification: github\ndedupe: __proto__.x\n",
    }),
  ).toContain("b.yaml: dedupe: Must be a place");
  expect(await list(server, "/v1/tools")).toEqual([]);
});

test("two triggers of one name are refused with both ids", async () => {
  await using server = await startRunnel();
  using folder = makeFolder(everything);
  expect((await apply(server, folder.path)).code).toBe(0);
  const [desk] = await list(server, "/v1/agents?name=Desk");
  await server.post("/v1/triggers", { name: "Paid", agent_id: desk.id, verification: "stripe" });
  const twice = await apply(server, folder.path);
  expect([twice.code, twice.stderr]).toEqual([1, expect.stringMatching(/trigger Paid \(\w+_\w+, \w+_\w+\)/)]);
  const exported = await server.command("export", join(folder.path, "out"));
  expect([exported.code, exported.stderr]).toEqual([1, expect.stringContaining("the same name: trigger Paid.")]);
});
