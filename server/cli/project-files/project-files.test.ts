import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { CreateSnippet } from "../../resources/snippets/schema.ts";
import { CreateTrigger } from "../../resources/triggers/schema.ts";
import { fileFields } from "../commands/export.ts";
import { checkFields } from "./check-fields.ts";
import { defaultsOf, type Kind, kinds, rules, type Thing } from "./kinds.ts";
import { bodyOf, inOrder, isCovered } from "./plan.ts";
import { type FileThing, readFolder } from "./read-files.ts";
import { referencesOf, withIds, withNames } from "./references.ts";
import type { StoredThings } from "./stored-things.ts";

function withFolder<Result>(files: Record<string, string>, use: (folder: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), "runnel-files-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const agent = (name: string, more: object = {}): FileThing => ({
  kind: "agent",
  name,
  path: `${name}.yaml`,
  fields: { name, instructions: "", ...more },
});
const agentTool = (name: string, of: string): FileThing => ({
  kind: "tool",
  name,
  path: `${name}.yaml`,
  fields: { name, type: "agent", agent: of },
});
const empty: StoredThings = {
  idOf: () => undefined,
  idsOf: () => [],
  nameOf: () => undefined,
  all: () => [],
  add: () => {},
};

test("names become ids and ids become names, and the order of fields stays", () => {
  const thing: Thing = agent("Desk", {
    tools: ["look_up", "pay"],
    memory: { stores: [{ memory: "Handbook", top_k: 3 }], history: { mode: "none" } },
    metadata: { memory: "stays" },
  });
  const ids = withIds(thing, ({ kind, name }) => `${kind}:${name}`);
  expect(ids).toEqual({
    name: "Desk",
    instructions: "",
    tools: ["tool:look_up", "tool:pay"],
    memory: { stores: [{ memory_id: "memory:Handbook", top_k: 3 }], history: { mode: "none" } },
    metadata: { memory: "stays" },
  });
  const back = withNames({ ...thing, fields: ids }, (_, id) => id.split(":")[1]);
  expect(JSON.stringify(back)).toBe(JSON.stringify(thing.fields));
  expect(referencesOf(thing).map(({ at }) => at)).toEqual(["tools[0]", "tools[1]", "memory.stores[0].memory"]);
});

test("a reference to a thing that does not exist yet is left out whole", () => {
  const thing = agent("Desk", { tools: ["new"], memory: { stores: [{ memory: "New", top_k: 3 }] } });
  expect(withIds(thing, () => undefined)).toEqual({
    name: "Desk",
    instructions: "",
    tools: [],
    memory: { stores: [] },
  });
});

test("things follow those that they name, and a circle begins with an agent", () => {
  const things = [
    agent("A", { tools: ["ask_b"] }),
    agentTool("ask_b", "B"),
    agent("B", { tools: ["ask_a"] }),
    agentTool("ask_a", "A"),
  ];
  expect(inOrder(things, empty).map(({ name }) => name)).toEqual(["A", "ask_a", "B", "ask_b"]);
  const chain = [agent("A", { tools: ["ask_b"] }), agentTool("ask_b", "B"), agent("B")];
  expect(inOrder(chain, empty).map(({ name }) => name)).toEqual(["B", "ask_b", "A"]);
});

test("every name that nothing has is reported with its file and its place", () => {
  const things = [agent("A", { tools: ["one"] }), agentTool("ask", "Nobody")];
  expect(() => inOrder(things, empty)).toThrow(
    'A.yaml: tools[0]: There is no tool "one".\nask.yaml: agent: There is no agent "Nobody".',
  );
});

test.each([
  ["no object", "name: a", "object is one of snippet, memory, tool, agent, schedule, trigger, webhook."],
  ["an unknown object", "object: toString", "object is one of"],
  ["no name", "object: agent\ninstructions: a", "An agent has a name, which is a text."],
  ["a number as a name", "object: agent\nname: 7", "An agent has a name, which is a text."],
  ["an id in place of a name", "object: schedule\nname: a\nagent_id: agt_1", "A schedule has no field agent_id."],
  ["an unknown field", "object: agent\nname: a\ninstruction: b", "An agent has no field instruction."],
  ["a repeated key", "object: agent\nname: a\nname: b", "Map keys must be unique"],
  ["a list", "- 1", "Expected fields"],
  ["nothing", "", "Expected fields"],
  ["a tab", "object: agent\n\tname: a", "a.yaml: "],
  [
    "aliases that grow",
    `object: agent\nname: a\nx0: &x0 [1,1]\n${Array.from({ length: 30 }, (_, i) => `x${i + 1}: &x${i + 1} [*x${i}, *x${i}]`).join("\n")}`,
    "a.yaml: ",
  ],
])("a file with %s is refused with its path", (_, text, message) => {
  withFolder({ "sub/a.yaml": text }, (folder) => {
    expect(() => readFolder(folder)).toThrow("sub/a.yaml: ");
    expect(() => readFolder(folder)).toThrow(message);
  });
});

test("a thing in two files, and a folder that does not exist, are refused", () => {
  const text = "object: agent\nname: a\ninstructions: b";
  withFolder({ "a.yaml": text, "b.yml": text }, (folder) =>
    expect(() => readFolder(folder)).toThrow("b.yml: agent a is also in a.yaml."),
  );
  expect(() => readFolder("/nowhere/at/all")).toThrow("There is no folder");
});

test("only YAML and JSON files are read, and none of hidden folders", () => {
  const text = "object: agent\nname: a\ninstructions: b";
  withFolder({ "a.yaml": text, "readme.md": "x", ".git/b.yaml": text, "node_modules/c.json": "{" }, (folder) =>
    expect(readFolder(folder)).toMatchObject([{ kind: "agent", name: "a", path: "a.yaml" }]),
  );
});

test("a value that lacks only the server's defaults is as it is wanted", () => {
  expect(isCovered({ a: { b: 1 } }, { a: { b: 1, c: 2 }, d: 3 })).toBe(true);
  expect(isCovered([{ a: 1 }], [{ a: 1, b: 2 }])).toBe(true);
  expect(isCovered({ a: 2 }, { a: 1 })).toBe(false);
  expect(isCovered([1], [1, 2])).toBe(false);
  expect(isCovered({}, { a: 1 })).toBe(false);
  expect(isCovered(null, {})).toBe(false);
});

test("a schedule or a trigger that gets another agent keeps the label of its file", () => {
  const wanted = { name: "t", agent_id: "agt_2", version: null, label: "production", enabled: true };
  const { name: _, enabled: __, ...choice } = wanted;
  for (const field of ["agent_id", "label"]) expect(bodyOf(wanted, [field])).toEqual(choice);
  expect(bodyOf(wanted, ["enabled"])).toEqual({ enabled: true });
});

test("a written file says what it describes, and leaves defaults out", () => {
  const thing: Thing = { kind: "agent", name: "A", fields: { name: "A", instructions: "", tools: [], memory: null } };
  expect(fileFields(thing)).toEqual({ object: "agent", name: "A", instructions: "", memory: null });
});

test("each reference and each default is a field of its kind", () => {
  for (const kind of kinds as readonly Kind[]) {
    const { fields, references, fixed, key } = rules[kind];
    const defaults = Object.keys(defaultsOf({ kind, fields: { verification: "github" } }));
    for (const name of [...references.map(({ path }) => path[0]!), ...defaults, ...fixed])
      expect(fields).toContain(name);
    expect([...fields, "name"]).toContain(key);
  }
});

test("each field that a file may leave out has a default, so that it takes the field back", () => {
  // The server replaces agents and tools as a whole, and gives memory an embedding where a file names none.
  const ofServer: Partial<Record<Kind, readonly string[]>> = { memory: ["embedding"] };
  for (const kind of kinds.filter((each) => each !== "agent" && each !== "tool")) {
    const { fields, fixed, key, schema } = rules[kind];
    const defaults = Object.keys(defaultsOf({ kind, fields: { verification: "github" } }));
    const others: readonly string[] = [key, ...fixed, ...(schema?.required ?? []), ...(ofServer[kind] ?? [])];
    expect([kind, fields.filter((name) => !defaults.includes(name) && !others.includes(name))]).toEqual([kind, []]);
  }
});

test("agents follow the snippets and skills that they name, and triggers follow agents", () => {
  const trigger: FileThing = { kind: "trigger", name: "t", path: "t.yaml", fields: { name: "t", agent: "A" } };
  const snippet: FileThing = {
    kind: "snippet",
    name: "tone",
    path: "z.md",
    fields: { name: "tone", text: "Be kind." },
  };
  const skill: FileThing = { kind: "skill", name: "letters", path: "letters", fields: {} };
  const desk = agent("A", { snippets: ["tone@1"], skills: [{ name: "letters", version: 1 }] });
  expect(inOrder([trigger, desk, snippet, skill], empty).map(({ kind }) => kind)).toEqual([
    "snippet",
    "skill",
    "agent",
    "trigger",
  ]);
  expect(() => inOrder([agent("A", { snippets: ["tone@1"], skills: ["letters"] })], empty)).toThrow(
    'A.yaml: skills[0]: There is no skill "letters".\nA.yaml: snippets[0]: There is no snippet "tone".',
  );
});

test("skills and snippets keep their names and versions, and those that do not exist yet are left out", () => {
  const thing = agent("A", {
    snippets: ["tone@2", "new"],
    skills: ["letters", { name: "letters", version: 3 }, { name: "new" }, { skill_id: "by id" }],
  });
  const { snippets, skills } = withIds(thing, ({ name }) => (name === "new" ? undefined : "id"));
  expect(snippets).toEqual(["tone@2"]);
  expect(skills).toEqual(["letters", { name: "letters", version: 3 }, { skill_id: "by id" }]);
  expect(withNames(thing, () => undefined)).toEqual(thing.fields);
});

test("a trigger without dedupe has the one of its sender, and its file leaves that out", () => {
  const fields = { name: "t", agent: "A", verification: "stripe", dedupe: "body.id", filter: [], enabled: true };
  expect(fileFields({ kind: "trigger", name: "t", fields })).toEqual({
    object: "trigger",
    name: "t",
    agent: "A",
    verification: "stripe",
  });
  const own = fileFields({ kind: "trigger", name: "t", fields: { ...fields, dedupe: null } });
  expect(own).toMatchObject({ dedupe: null });
});

test("each setting of a trigger and a snippet can be in a file, except secrets", () => {
  const settings = (schema: { properties: object }) => Object.keys(schema.properties).sort();
  expect(rules.trigger.fields.toSorted()).toEqual(settings(CreateTrigger).filter((field) => field !== "secret"));
  expect(rules.snippet.fields.toSorted()).toEqual(settings(CreateSnippet));
});

test.each([
  ["a skill as a file", "a.yaml", "object: skill\nname: a", "A skill is a folder with a file SKILL.md."],
  ["a secret", "a.yaml", "object: trigger\nname: a\nsecret: b", "A trigger has no field secret. --secrets writes"],
  ["an agent as Markdown", "a.md", "---\nobject: agent\nname: a\n---\nHelp.", "Only a snippet can be a Markdown"],
  ["a text twice", "a.md", "---\nobject: snippet\nname: a\ntext: b\n---\nc", "below the front matter"],
  ["front matter that is no YAML", "a.md", "---\nobject: [\n---\nc", "a.md: "],
  ["a field that a snippet does not have", "a.yaml", "object: snippet\nname: a\nbody: c", "no field body"],
  ["a field named fault", "a.yaml", "object: snippet\nname: a\nfault: c", "no field fault"],
])("%s is refused with a clear word", (_, path, text, message) => {
  withFolder({ [path]: text }, (folder) => expect(() => readFolder(folder)).toThrow(message));
});

const checked = (kind: Kind, fields: Record<string, unknown>) => () =>
  checkFields({ kind, name: "a", fields: { name: "a", ...fields } });

test.each<[string, () => void, string]>([
  ["a text of a snippet that is a number", checked("snippet", { text: 5 }), "text: Must be a string."],
  ["a snippet in a snippet", checked("snippet", { text: "{{> b}}" }), "text: A snippet has no snippets"],
  ["an unknown sender", checked("trigger", { agent: "A", verification: "x" }), "verification: Must be one of github"],
  ["no sender", checked("trigger", { agent: "A" }), "verification: "],
  [
    "a template without a place",
    checked("trigger", { agent: "A", verification: "github", input: "{{constructor}}" }),
    "`{{constructor}}` names no value",
  ],
  [
    "a filter with both lists",
    checked("trigger", {
      agent: "A",
      verification: "github",
      filter: [{ path: "body.a", in: [1], not_in: [2] }],
    }),
    "filter[0]: Give either",
  ],
  ["a schedule without a time", checked("schedule", { agent: "A", input: "b", timezone: "UTC" }), "cron: "],
])("%s is known to be wrong before anything is sent", (_, check, message) => {
  expect(check).toThrow(message);
});

test("things that are right pass the check", () => {
  checked("trigger", { agent: "A", verification: "github", budget: { max_cost_usd: 1 } })();
  checked("snippet", { text: "Dear {{customer}}," })();
  const webhook = { url: "https://example.com", events: ["run.completed"] };
  checkFields({ kind: "webhook", name: webhook.url, fields: webhook });
  checked("memory", { kind: "kv" })();
});
