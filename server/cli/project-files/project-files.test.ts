import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileFields } from "../commands/export.ts";
import { type Kind, kinds, rules, type Thing } from "./kinds.ts";
import { inOrder, isCovered } from "./plan.ts";
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
  ["no object", "name: a", "object is one of memory, tool, agent, schedule, webhook."],
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

test("a written file says what it describes, and leaves defaults out", () => {
  const thing: Thing = { kind: "agent", name: "A", fields: { name: "A", instructions: "", tools: [], memory: null } };
  expect(fileFields(thing)).toEqual({ object: "agent", name: "A", instructions: "", memory: null });
});

test("each reference and each default is a field of its kind", () => {
  for (const kind of kinds as readonly Kind[]) {
    const { fields, references, defaults, fixed, key } = rules[kind];
    for (const name of [...references.map(({ path }) => path[0]!), ...Object.keys(defaults), ...fixed])
      expect(fields).toContain(name);
    expect([...fields, "name"]).toContain(key);
  }
});
