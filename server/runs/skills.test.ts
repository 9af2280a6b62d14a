import { expect, test } from "bun:test";
import type { ScriptEntry } from "../domain/model-call.ts";
import { skillText } from "../testing/archives.ts";
import { uploadSkill } from "../testing/skills.ts";
import { type Client, testApp } from "../testing/test-app.ts";

// Skills through the whole server: what the model reads, and what a run pins.

async function agentWith(client: Client, script: ScriptEntry[], more: object): Promise<string> {
  const agent = { name: "Clerk", instructions: "Be brief.", model: "test/script", model_settings: { script } };
  const { status, body } = await client.post("/v1/agents", { ...agent, ...more });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body.id;
}

const ran = async (client: Client, agent_id: string) =>
  (await client.post("/v1/runs?wait=60", { agent_id, input: "Go" })).body;

const callOf = (name: string, args: Record<string, unknown>): ScriptEntry => ({
  tool_calls: [{ name, arguments: args }],
});
const submission = (tool_call_id: string) => ({ tool_outputs: [{ tool_call_id, output: "on" }], stream: true });
const done: ScriptEntry = { text: "Done." };

async function promptOf(client: Client, runId: string): Promise<string> {
  const text = JSON.stringify((await client.get(`/v1/traces/${runId}?format=otlp`)).body);
  const [, prompt = ""] = /"gen_ai.system_instructions","value":\{"stringValue":("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
  return JSON.parse(JSON.parse(prompt))[0].content;
}

test("the prompt holds names and descriptions, load_skill brings the body, and read_skill_file a file", async () => {
  await using server = testApp();
  const client = await server.client();
  await uploadSkill(client, "pdf", { "references/forms.md": "Fields are named.\n" });
  const agent = await agentWith(
    client,
    [
      callOf("load_skill", { name: "pdf" }),
      callOf("read_skill_file", { name: "pdf", path: "references/forms.md" }),
      done,
    ],
    { skills: ["pdf"] },
  );
  const run = await ran(client, agent);
  expect(run.status).toBe("completed");
  expect(run.tool_calls.map(({ output }: { output: unknown }) => output)).toEqual([
    "# How\n\nDo it well.\n\n# Files\n\n- references/forms.md (18 bytes)",
    "Fields are named.",
  ]);
  expect(await promptOf(client, run.id)).toBe(
    [
      "Be brief.",
      "# Skills",
      "If a task fits the description of a skill, call load_skill with its name first, and follow what it says. Read the files that it names with read_skill_file.",
      "- pdf: Does things.",
    ].join("\n\n"),
  );
});

test("a run keeps the version that it began with, and a new run has the newest or the named one", async () => {
  await using server = testApp();
  const client = await server.client();
  const { id } = await uploadSkill(client, "pdf", { "a.txt": "one" });
  const script = [callOf("wait", {}), callOf("read_skill_file", { name: "pdf", path: "a.txt" }), done];
  const tool = await client.post("/v1/tools", { name: "wait", type: "client" });
  const newest = await agentWith(client, script, { tools: [tool.body.id], skills: [id] });
  const named = await agentWith(client, script, { tools: [tool.body.id], skills: [{ skill_id: id, version: 1 }] });
  const begun = await ran(client, newest);
  expect(begun.status).toBe("requires_action");
  await uploadSkill(client, "pdf", { "a.txt": "two" });
  const runs = [begun, await ran(client, newest), await ran(client, named)];
  const outputs = [];
  for (const { id, required_action } of runs) {
    const [call] = required_action.submit_tool_outputs.tool_calls;
    await client.post(`/v1/runs/${id}/submit_tool_outputs`, submission(call.tool_call_id));
    const run = (await client.get(`/v1/runs/${id}`)).body;
    outputs.push(run.tool_calls[1].output);
  }
  expect(outputs).toEqual(["one", "two", "one"]);
  // Deleted, it is still in a replay, and in the prompt of a fork.
  await client.delete(`/v1/skills/${id}`);
  const { body: replayed } = await client.post(`/v1/runs/${begun.id}/replay`);
  expect([replayed.status, replayed.tool_calls[1].output]).toEqual(["completed", "one"]);
  expect(await promptOf(client, replayed.id)).toBe(await promptOf(client, begun.id));
});

test("a run that began before its skill was deleted keeps it, and a new run does not have the skill", async () => {
  await using server = testApp();
  const client = await server.client();
  const { id } = await uploadSkill(client, "pdf");
  const tool = await client.post("/v1/tools", { name: "wait", type: "client" });
  const script = [callOf("wait", {}), callOf("load_skill", { name: "pdf" }), done];
  const agent = await agentWith(client, script, { tools: [tool.body.id], skills: ["pdf"] });
  const begun = await ran(client, agent);
  await client.delete(`/v1/skills/${id}`);
  const [call] = begun.required_action.submit_tool_outputs.tool_calls;
  await client.post(`/v1/runs/${begun.id}/submit_tool_outputs`, submission(call.tool_call_id));
  const { tool_calls } = (await client.get(`/v1/runs/${begun.id}`)).body;
  expect(tool_calls[1]).toMatchObject({ output: "# How\n\nDo it well.", error: null });
  // The agent still names it, and takes it again with other changes.
  const { body } = await client.get(`/v1/agents/${agent}`);
  expect(body.skills).toEqual([{ skill_id: id, name: "pdf", version: null }]);
  expect((await client.patch(`/v1/agents/${agent}`, { description: "d", skills: body.skills })).status).toBe(200);
  const after = await ran(client, agent);
  expect(await promptOf(client, after.id)).toBe("Be brief.");
});

test("a long file is cut with a note and read on from a later line, and a file that is no text is named as such", async () => {
  await using server = testApp();
  const client = await server.client();
  const lines = Array.from({ length: 5000 }, (_, i) => `line ${i + 1}`).join("\n");
  await uploadSkill(client, "pdf", {
    "long.txt": lines,
    "wide.txt": "ä".repeat(100_000),
    "a.bin": new Uint8Array([0, 1, 2]),
    "b.bin": new Uint8Array([255, 254, 65]),
  });
  const read = (path: string, more = {}) => callOf("read_skill_file", { name: "pdf", path, ...more });
  const script = [
    read("long.txt"),
    read("long.txt", { first_line: 4999 }),
    read("long.txt", { first_line: 6000 }),
    read("wide.txt"),
    read("a.bin"),
    read("b.bin"),
    read("./long.txt", { first_line: 5000 }),
    read("/skills/pdf/long.txt", { first_line: 5000 }),
    read("../pdf/long.txt"),
    read("/etc/passwd"),
    callOf("load_skill", { name: "other" }),
    done,
  ];
  const { tool_calls } = await ran(client, await agentWith(client, script, { skills: ["pdf"] }));
  const told = tool_calls.map(({ output, error }: { output: string; error: { code: string } | null }) =>
    error ? error.code : output,
  );
  expect(told[0].split("\n").slice(-3)).toEqual([
    "line 2000",
    "",
    "[Cut after line 2000 of 5000. Read on in long.txt with first_line 2001.]",
  ]);
  expect(told[1]).toBe("line 4999\nline 5000");
  expect(told[2]).toBe("[long.txt has only 5000 lines.]");
  expect(Buffer.byteLength(told[3])).toBeLessThan(66_000);
  expect(told[3]).toEndWith("[The rest of this line is left out.]");
  expect(told.slice(4)).toEqual([
    "not_text",
    "not_text",
    "line 5000",
    "line 5000",
    "file_not_found",
    "file_not_found",
    "invalid_arguments",
  ]);
});

test("code of an agent with skills sees their folders, and an agent without them does not", async () => {
  await using server = testApp();
  const client = await server.client();
  await uploadSkill(client, "pdf", { "scripts/add.js": "export const two = 2;\n" });
  const tool = await client.post("/v1/tools", { name: "run", type: "code" });
  const code = `[input.names(), input.names().map((name) => input.text(name).length)]`;
  const script = [callOf("run", { code }), done];
  const agents = [
    await agentWith(client, script, { tools: [tool.body.id], skills: ["pdf"] }),
    await agentWith(client, script, { tools: [tool.body.id] }),
  ];
  const runs = await Promise.all(agents.map((agent) => ran(client, agent)));
  expect(runs.map(({ tool_calls }) => tool_calls[0].output.result)).toEqual([
    [
      ["/skills/pdf/SKILL.md", "/skills/pdf/scripts/add.js"],
      [skillText("pdf").length, 22],
    ],
    [[], []],
  ]);
  expect(await promptOf(client, runs[0].id)).toContain("Code finds them in /skills/<name>/.");
});

test("skills of an agent are named by id, by name and with a version; others are refused with their place", async () => {
  await using server = testApp();
  const client = await server.client();
  const [pdf, xls] = [await uploadSkill(client, "pdf"), await uploadSkill(client, "xls")];
  const agent = await agentWith(client, [done], { skills: [pdf.id, { name: "xls", version: 1 }] });
  const stored = [
    { skill_id: pdf.id, name: "pdf", version: null },
    { skill_id: xls.id, name: "xls", version: 1 },
  ];
  expect((await client.get(`/v1/agents/${agent}`)).body.skills).toEqual(stored);
  // A response may be sent back, and makes no version.
  expect((await client.patch(`/v1/agents/${agent}`, { skills: stored })).body.version).toBe(1);
  const stranger = await server.client({ project: "other" });
  const foreign = await uploadSkill(stranger, "mine");
  for (const [skills, param] of [
    [["none"], "skills[0]"],
    [["pdf", foreign.id], "skills[1]"],
    [[{ name: "pdf", version: 2 }], "skills[0]"],
    [[{}], "skills[0]"],
    [["pdf", pdf.id], "skills[1]"],
  ] as const) {
    const { status, body } = await client.patch(`/v1/agents/${agent}`, { skills });
    expect([status, body.error.param]).toEqual([400, param]);
  }
  expect((await client.patch(`/v1/agents/${agent}`, { skills: null })).body.skills).toEqual([]);
});

test("an agent's own tool keeps its name beside a skill's", async () => {
  await using server = testApp();
  const client = await server.client();
  await uploadSkill(client, "pdf");
  const own = await client.post("/v1/tools", { name: "load_skill", type: "client" });
  const agent = await agentWith(client, [callOf("load_skill_2", { name: "pdf" }), done], {
    tools: [own.body.id],
    skills: ["pdf"],
  });
  const run = await ran(client, agent);
  expect(run.tool_calls[0].output).toContain("Do it well.");
  expect(await promptOf(client, run.id)).toContain("call load_skill_2 with its name");
});

test.each<[string, (text: string) => string]>([
  ["line ends of Windows", (text) => text.replaceAll("\n", "\r\n")],
  ["line ends of old Macs", (text) => text.replaceAll("\n", "\r")],
  ["a byte order mark", (text) => `\ufeff${text}`],
  ["blank lines before its front matter", (text) => `\n \n${text}`],
  ["a rule in its body", (text) => text],
])("load_skill brings the body without the front matter, with %s", async (_, written) => {
  await using server = testApp();
  const client = await server.client();
  const body = "# How\n\n---\n\nDo it well.\n\n---\nname: none\n---\n";
  await uploadSkill(client, "pdf", { "SKILL.md": written(skillText("pdf", "Does things.", body)) });
  const agent = await agentWith(client, [callOf("load_skill", { name: "pdf" }), done], { skills: ["pdf"] });
  const { tool_calls } = await ran(client, agent);
  expect(tool_calls[0].output).toBe(body.trim());
});
