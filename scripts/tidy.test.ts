import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { languageFaults } from "./language.ts";
import { root } from "./root.ts";
import { readSources } from "./sources.ts";
import {
  clockFaults,
  columnFaults,
  cycles,
  deadFiles,
  layerFaults,
  leftovers,
  packageFaults,
  queryKeyFaults,
  retypedShapes,
  schemasInBrowser,
  strays,
  unusedExports,
} from "./tidy.ts";

describe("the project", () => {
  const files = readSources();

  test("every folder imports only itself and lower layers", () => {
    expect(layerFaults(files)).toEqual([]);
  });

  test("no files import one another in a cycle", () => {
    expect(cycles(files)).toEqual([]);
  });

  test("every file of the server is part of the executable or of a test", () => {
    const outside = Object.keys(files).filter((path) => !path.startsWith("server/") || path.endsWith(".test.ts"));
    expect(
      deadFiles(files, [
        ...outside,
        "server/main.ts",
        "server/runtime/agent-loop/entry.ts",
        "server/runtime/retrieval/embeddings/entry.ts",
        "server/runtime/retrieval/vector-search/entry.ts",
        "server/storage/db/checkpoint-entry.ts",
        "server/storage/db/migrate-entry.ts",
        "server/testing/simulation/lives.ts",
      ]),
    ).toEqual([]);
  });

  test("every export is imported", () => {
    // Types of the API are for its users, even if no module here uses them yet.
    expect(unusedExports(files)).toEqual([]);
  });

  test("every file belongs to a layer", () => {
    expect(strays(files)).toEqual([]);
  });

  test("packages are imported only in their places", () => {
    expect(packageFaults(files)).toEqual([]);
  });

  test("the browser loads no schemas", () => {
    expect(schemasInBrowser(files)).toEqual([]);
  });

  test("every statement names its columns", () => {
    expect(columnFaults(files)).toEqual([]);
  });

  test("no source breaks a rule of the language", () => {
    expect(languageFaults(files)).toEqual([]);
  });

  test("no test expects a duration", () => {
    const { "scripts/tidy.test.ts": _, ...others } = files;
    expect(clockFaults(others)).toEqual([]);
  });

  test("query keys are written in entities alone", () => {
    expect(queryKeyFaults(files)).toEqual([]);
  });

  test("the dashboard takes the shapes of the wire from the server", () => {
    expect(retypedShapes(files).length).toBeLessThanOrEqual(10);
  });

  test("no leftovers remain", () => {
    const { "scripts/tidy.test.ts": _, ...others } = files; // Its inputs below are deliberate findings.
    expect(leftovers(others)).toEqual([]);
  });

  test("the top level contains only the expected entries", () => {
    const given = [
      "package.json",
      "bun.lock",
      "bunfig.toml",
      "server",
      "dashboard",
      "migrations",
      "e2e",
      "scripts",
      "README.md",
    ];
    const made = ["node_modules", "dist", "runnel-data"];
    const strangers = readdirSync(root).filter((name) => !name.startsWith(".") && ![...given, ...made].includes(name));
    expect(strangers).toEqual([]);
  });
});

describe("these checks find their targets", () => {
  test.each([
    ["expect(performance.now() - begun).toBeLessThan(1000);", 1],
    ["expect(\n  Math.abs(Date.now() - at),\n).toBe(0);", 1],
    ["const took = Math.round(performance.now() - begun);\nexpect(took).toBeLessThan(5);", 1],
    ["worst.wait_ms = Math.max(worst.wait_ms, performance.now() - begun);\nexpect(worst.wait_ms).toBe(1);", 1],
    ["waits.push(performance.now() - asked);\nexpect(waits[0]).toBe(1);", 1],
    ["return { took: performance.now() - begun };\nexpect(took).toBe(1);", 1],
    ["const missed = Date.now() - 30 * hour_ms;\nexpect(missed).toBe(1);", 0],
    ["const from = Date.now() - day_ms;\nexpect(from).toBe(1);", 0],
    ["while (performance.now() - begun < 10);\nexpect(begun).toBe(1);", 0],
    ["console.info(performance.now() - begun);\nexpect(1).toBe(1);", 0],
  ])("an expectation about the clock is found, and a mere wait is not: %p", (source, count) => {
    expect(clockFaults({ "e2e/a.e2e.ts": source, "scripts/bench/a.ts": source })).toHaveLength(count);
  });

  test("a dashboard type with two fields of the wire is found, and a derived type or a form's own is not", () => {
    const source = `export interface Run {
  run_id: string;
  thread_id?: string;
}

type Key = Pick<ApiKey, "last_used_at" | "last_used_ip">;

interface Draft {
  name: string;
  max_turns: number;
}
`;
    expect(retypedShapes({ "dashboard/src/features/runs/a.ts": source, "server/runs/a.ts": source })).toEqual([
      "dashboard/src/features/runs/a.ts Run",
    ]);
  });

  const faults = (from: string, line: string) => layerFaults({ [from]: `${line}\n` }).length;

  test.each([
    ["server/domain/a.ts", `import { b } from "../storage/db/b.ts";`, "upwards"],
    ["server/domain/a.ts", `import type { B } from "../storage/db/b.ts";`, "upwards, types alone"],
    [
      "server/resources/agents/store.ts",
      `import {\n  one,\n  two,\n} from "../keys/store.ts";`,
      "a neighbour, over several lines",
    ],
    [
      "server/resources/agents/store.ts",
      `import type { B } from "../keys/module.ts";`,
      "a neighbour's type, outside of the module",
    ],
    [
      "server/resources/agents/module.ts",
      `import type { B } from "../keys/store.ts";`,
      "a type of a neighbour's inside",
    ],
    ["server/resources/agents/module.ts", `import { b } from "../keys/module.ts";`, "a neighbour's module at run time"],
    ["server/lib/a.ts", `export * from "../core/b.ts";`, "by exporting it again"],
    ["server/http/a.ts", `const b = await import("../runs/b.ts");`, "at run time"],
    ["server/http/a.ts", `import "../runs/b.ts";`, "for its effect"],
    ["server/novel/a.ts", `import { b } from "../lib/b.ts";`, "from a folder without a layer"],
    ["server/runs/a.ts", `import { b } from "../app.ts";`, "the composition root"],
    ["server/runtime/models/a.ts", `import { b } from "../agent-loop/b.ts";`, "upwards within a folder"],
    ["server/runtime/mcp/a.ts", `import { b } from "../guardrails/b.ts";`, "a neighbour within a folder"],
    ["server/domain/api-types/a.ts", `import { b } from "../../lib/../storage/b.ts";`, "upwards by another way"],
    ["server/runs/a.ts", `import { b } from "../../dashboard/src/lib/b.ts";`, "the dashboard"],
    ["dashboard/src/features/runs/a.ts", `import { b } from "../keys/b.ts";`, "another feature"],
    ["dashboard/src/ui/a.tsx", `import { b } from "../features/runs/b.ts";`, "a feature from below"],
    ["dashboard/src/ui/a.tsx", `import { b } from "../entities/run/b.ts";`, "an entity from below"],
    ["dashboard/src/entities/run/a.ts", `import { b } from "../../features/runs/b.ts";`, "a feature from an entity"],
    ["dashboard/src/lib/a.ts", `import { b } from "../../../server/runs/store.ts";`, "the server's inside"],
    ["dashboard/src/lib/a.ts", `import { b } from "../../../server/runs/schema.ts";`, "a schema's value"],
    [
      "dashboard/src/lib/a.ts",
      `import { b } from "../../../server/domain/api-types/tool.ts";`,
      "a schema's value, of the wire",
    ],
  ])("%s must not contain %p (%s)", (from, line) => {
    expect(faults(from, line)).toBe(1);
  });

  test.each([
    ["server/domain/a.ts", `import { b } from "./b.ts";`],
    ["server/runs/a.ts", `import { b } from "../resources/agents/store.ts";`],
    ["server/resources/agents/module.ts", `import type { B } from "../keys/module.ts";`],
    ["server/storage/db/a.ts", `import { b } from "../../../migrations/index.ts";`],
    ["server/runtime/agent-loop/a.ts", `import { b } from "../models/b.ts";`],
    ["server/main.ts", `import { b } from "./cli/program.ts";`],
    ["server/domain/a.test.ts", `import { b } from "../testing/test-app.ts";`],
    ["server/lib/a.ts", `import { join } from "node:path";`],
    ["dashboard/src/app/a.tsx", `import { b } from "../features/runs/b.tsx";`],
    ["dashboard/src/features/runs/a.ts", `import { b } from "../../entities/tool/b.ts";`],
    ["dashboard/src/entities/run/a.ts", `import { b } from "../tool/b.ts";`],
    ["dashboard/src/features/runs/a.ts", `import { b } from "../../../../server/domain/run-state.ts";`],
    ["dashboard/src/features/runs/a.ts", `import type { b } from "../../../../server/runs/schema.ts";`],
    ["dashboard/src/features/runs/a.ts", `import { b } from "../../../../server/domain/api-types/enums.ts";`],
    ["dashboard/src/features/runs/a.ts", `import type { B } from "../../../../server/domain/api-types/tool.ts";`],
  ])("%s may contain %p", (from, line) => {
    expect(faults(from, line)).toBe(0);
  });

  test("a file outside the layers is found", () => {
    const misplaced = ["server/novel/a.ts", "server/b.ts", "dashboard/src/novel/a.tsx", "dashboard/src/b.ts"];
    const placed = [
      "server/domain/a.ts",
      "server/app.ts",
      "dashboard/src/ui/a.tsx",
      "dashboard/vite.config.ts",
      "e2e/a.ts",
    ];
    expect(strays(Object.fromEntries([...misplaced, ...placed].map((path) => [path, ""])))).toEqual(misplaced);
  });

  test("a cycle of three is one finding, also if only types close it", () => {
    const ring = (c: string) => ({
      "server/a/a.ts": `import "./b.ts";`,
      "server/a/b.ts": `export { c } from "./c.ts";`,
      "server/a/c.ts": c,
    });
    const found = ["server/a/a.ts → server/a/b.ts → server/a/c.ts → server/a/a.ts"];
    expect(cycles(ring(`import { a } from "./a.ts";`))).toEqual(found);
    expect(cycles(ring(`import type { A } from "./a.ts";`))).toEqual(found);
    expect(cycles(ring(""))).toEqual([]);
  });

  test.each([
    ["export const a = 1;", `import { b } from "./a.ts";`, ["a.ts exports a"]],
    ["export async function a() {}", "", ["a.ts exports a"]],
    ["const a = 1;\nexport { a as b };", `import { a } from "./a.ts";`, ["a.ts exports b"]],
    ["export interface A {}\nexport type B = A;", `import { c, type A } from "./a.ts";`, ["a.ts exports B"]],
    ["export const a = 1;", `import { a as b } from "./a.ts";`, []],
    ["export const a = 1;", `export { a } from "./a.ts";`, ["b.ts exports a"]],
    ["export const a = 1;", `import * as all from "./a.ts";`, []],
    ["export const a = 1;", `const { a } = await import("./a.ts");`, []],
  ])("of %p beside %p it finds %p", (source, other, found) => {
    expect(unusedExports({ "a.ts": source, "b.ts": other })).toEqual(found);
  });

  test("a file that no file loads is dead, and so is one that only a dead one loads", () => {
    const files = {
      "server/main.ts": `import "./a.ts";`,
      "server/a.ts": "",
      "server/b.ts": `import "./c.ts";`,
      "server/c.ts": "",
    };
    expect(deadFiles(files, ["server/main.ts"])).toEqual(["server/b.ts", "server/c.ts"]);
  });

  test("schemas that the browser would load are found, and their types are not", () => {
    const found = (line: string) =>
      schemasInBrowser({
        "dashboard/src/lib/a.ts": line,
        "server/domain/a.ts": `import { b } from "./b.ts";`,
        "server/domain/b.ts": `import { Type } from "@sinclair/typebox";`,
      });
    expect(found(`import { a } from "../../../server/domain/a.ts";`)).toEqual(["server/domain/b.ts"]);
    expect(found(`import type { A } from "../../../server/domain/a.ts";`)).toEqual([]);
  });

  test("a package in the wrong place is found", () => {
    const wrong = {
      "server/runs/store.ts": `import { t } from "elysia";`,
      "server/lib/a.ts": `import { fetch } from "undici";`,
      "server/runtime/mcp/client.ts": `import { Client } from "@modelcontextprotocol/sdk/client/index.js";`,
      "server/app.ts": `import * as tf from "@tensorflow/tfjs-core";`,
    };
    expect(packageFaults(wrong)).toHaveLength(4);
    expect(packageFaults({ "server/runs/routes.ts": `import { t } from "elysia";` })).toEqual([]);
  });

  test("a statement without named columns is found", () => {
    const [all, into] = ["SELECT" + " *", "INSERT" + " INTO"];
    for (const statement of [
      `${all} FROM a`,
      "SELECT" + " e.* FROM a e",
      `${into} a VALUES (?)`,
      `${into} a\n SELECT 1`,
    ])
      expect(columnFaults({ "server/a/store.ts": `\`${statement}\`` })).toHaveLength(1);
    expect(columnFaults({ "server/a/store.test.ts": `${into} a VALUES (1)`, "e2e/a.e2e.ts": all })).toHaveLength(1);
    expect(columnFaults({ "server/a/store.ts": `${into} a (b) VALUES (?)` })).toEqual([]);
  });

  test("a query key outside of the entities is found", () => {
    const source = `useQuery({ queryKey: ["runs"], queryFn });`;
    for (const text of [source, `client.setQueryData(["runs"], runs);`])
      expect(queryKeyFaults({ "dashboard/src/features/runs/a.ts": text })).toHaveLength(1);
    expect(queryKeyFaults({ "dashboard/src/entities/run/a.ts": source })).toEqual([]);
  });

  test("leftovers are found", () => {
    const left = [
      "// TO" + "DO later",
      "test.on" + "ly('a', b)",
      "  debugger;",
      "console.log(1)",
      "process.stdout.write(a)",
    ];
    for (const source of left) expect(leftovers({ "server/cli/a.ts": source })).toHaveLength(1);
    expect(leftovers({ "scripts/a.ts": "console.log(1)" })).toEqual([]);
  });
});

describe("a rule of the language", () => {
  const found = (source: string) => languageFaults({ "server/a.ts": source });

  test.each([
    "f({ ...{ a, b } });",
    "f([...[a, b]]);",
    "<Row {...{ title }} />",
    "/** What follows. */",
    "/**\n * What follows.\n */",
    "f(); // What follows.",
    "// Whoever reads this.",
    "/** Returned to whoever asks. */",
    "export function createReach() {}",
    "export const firstOf = 1;",
  ])("is broken by %s", (source) => expect(found(source)).toHaveLength(1));

  test.each([
    "f({ ...a, b });",
    "f([...[a, b].map(g)]);",
    "/** True if what follows is text. */",
    'const text = "What is it?";',
    "export const firstOfAll = readOutput();",
    "const firstOf = f();",
  ])("is kept by %s", (source) => expect(found(source)).toEqual([]));

  test("names the line", () => {
    expect(found("\n\n/** What follows. */")).toEqual([expect.stringContaining("server/a.ts:3 ")]);
  });
});
