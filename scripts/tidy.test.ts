import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { inProject, root } from "./root.ts";
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
import { refusedWords, textFaults, wordFaults } from "./words.ts";

describe("the project", () => {
  const files = readSources();

  test("every folder imports only itself and lower layers", () => {
    expect(layerFaults(files)).toEqual([]);
  });

  test("no files import one another in a ring", () => {
    expect(cycles(files)).toEqual([]);
  });

  test("every file of the server is part of the executable or of a test", () => {
    const outside = Object.keys(files).filter((path) => !path.startsWith("server/") || path.endsWith(".test.ts"));
    expect(
      deadFiles(files, [
        ...outside,
        "server/main.ts",
        "server/worker/entry.ts",
        "server/retrieval/embed/entry.ts",
        "server/retrieval/search/entry.ts",
        "server/db/checkpoint-entry.ts",
        "server/db/migrate-entry.ts",
        "server/testing/simulation/lives.ts",
      ]),
    ).toEqual([]);
  });

  test("what is exported is imported somewhere", () => {
    // The wire's shapes are for whoever reads the API, also those that nobody here has asked for yet.
    expect(unusedExports(files)).toEqual([]);
  });

  test("every file stands in a layer", () => {
    expect(strays(files)).toEqual([]);
  });

  test("packages are imported only where they belong", () => {
    expect(packageFaults(files)).toEqual([]);
  });

  test("the browser loads no schemas", () => {
    expect(schemasInBrowser(files)).toEqual([]);
  });

  test("every statement names its columns", () => {
    expect(columnFaults(files)).toEqual([]);
  });

  test("no word stands where the glossary refuses it", () => {
    const refused = refusedWords(readFileSync(inProject("server/docs/develop/glossary.md"), "utf8"));
    expect(refused.length).toBeGreaterThan(0);
    expect(wordFaults(files, refused)).toEqual([]);
  });

  test("the dashboard speaks the field's words", () => {
    expect(textFaults(files)).toEqual([]);
  });

  test("no test expects something of how long it took", () => {
    const { "scripts/tidy.test.ts": _, ...others } = files;
    expect(clockFaults(others)).toEqual([]);
  });

  test("query keys are written in entities alone", () => {
    expect(queryKeyFaults(files)).toEqual([]);
  });

  test("the dashboard takes the shapes of the wire from the server", () => {
    expect(retypedShapes(files).length).toBeLessThanOrEqual(10);
  });

  test("nothing is left behind", () => {
    const { "scripts/tidy.test.ts": _, ...others } = files; // Its made-up inputs below are findings on purpose.
    expect(leftovers(others)).toEqual([]);
  });

  test("the top level holds what it is meant to hold", () => {
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

describe("these checks find what they look for", () => {
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
  ])("a test that looks at the clock, and none that only waits by it: %p", (source, count) => {
    expect(clockFaults({ "e2e/a.e2e.ts": source, "scripts/bench/a.ts": source })).toHaveLength(count);
  });

  test("a type of the dashboard with two fields of the wire, and none that is derived or a form's own", () => {
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
    ["server/core/a.ts", `import { b } from "../db/b.ts";`, "upwards"],
    ["server/core/a.ts", `import type { B } from "../db/b.ts";`, "upwards, types alone"],
    [
      "server/agents/store.ts",
      `import {\n  one,\n  two,\n} from "../keys/store.ts";`,
      "a neighbour, over several lines",
    ],
    ["server/lib/a.ts", `export * from "../core/b.ts";`, "by exporting it again"],
    ["server/http/a.ts", `const b = await import("../runs/b.ts");`, "at run time"],
    ["server/http/a.ts", `import "../runs/b.ts";`, "for its effect"],
    ["server/novel/a.ts", `import { b } from "../lib/b.ts";`, "from a folder without a layer"],
    ["server/runs/a.ts", `import { b } from "../app.ts";`, "the composition root"],
    ["server/runs/a.ts", `import { b } from "../../dashboard/src/lib/b.ts";`, "the dashboard"],
    ["dashboard/src/features/runs/a.ts", `import { b } from "../keys/b.ts";`, "another feature"],
    ["dashboard/src/ui/a.tsx", `import { b } from "../features/runs/b.ts";`, "a feature from below"],
    ["dashboard/src/ui/a.tsx", `import { b } from "../entities/run/b.ts";`, "an entity from below"],
    ["dashboard/src/entities/run/a.ts", `import { b } from "../../features/runs/b.ts";`, "a feature from an entity"],
    ["dashboard/src/lib/a.ts", `import { b } from "../../../server/runs/store.ts";`, "the server's inside"],
    ["dashboard/src/lib/a.ts", `import { b } from "../../../server/runs/schema.ts";`, "a schema's value"],
    ["dashboard/src/lib/a.ts", `import { b } from "../../../server/wire/tool.ts";`, "a schema's value, of the wire"],
  ])("%s may not say %p (%s)", (from, line) => {
    expect(faults(from, line)).toBe(1);
  });

  test.each([
    ["server/core/a.ts", `import { b } from "./b.ts";`],
    ["server/runs/a.ts", `import { b } from "../agents/store.ts";`],
    ["server/db/a.ts", `import { b } from "../../migrations/index.ts";`],
    ["server/main.ts", `import { b } from "./cli/program.ts";`],
    ["server/core/a.test.ts", `import { b } from "../testing/test-app.ts";`],
    ["server/lib/a.ts", `import { join } from "node:path";`],
    ["dashboard/src/app/a.tsx", `import { b } from "../features/runs/b.tsx";`],
    ["dashboard/src/features/runs/a.ts", `import { b } from "../../entities/tool/b.ts";`],
    ["dashboard/src/entities/run/a.ts", `import { b } from "../tool/b.ts";`],
    ["dashboard/src/features/runs/a.ts", `import { b } from "../../../../server/core/run-state.ts";`],
    ["dashboard/src/features/runs/a.ts", `import type { b } from "../../../../server/runs/schema.ts";`],
    ["dashboard/src/features/runs/a.ts", `import { b } from "../../../../server/wire/names.ts";`],
    ["dashboard/src/features/runs/a.ts", `import type { B } from "../../../../server/wire/tool.ts";`],
  ])("%s may say %p", (from, line) => {
    expect(faults(from, line)).toBe(0);
  });

  test("a file in no layer is found", () => {
    const misplaced = ["server/novel/a.ts", "server/b.ts", "dashboard/src/novel/a.tsx", "dashboard/src/b.ts"];
    const placed = [
      "server/core/a.ts",
      "server/app.ts",
      "dashboard/src/ui/a.tsx",
      "dashboard/vite.config.ts",
      "e2e/a.ts",
    ];
    expect(strays(Object.fromEntries([...misplaced, ...placed].map((path) => [path, ""])))).toEqual(misplaced);
  });

  test("a ring of three is one finding, also where types alone close it", () => {
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

  test("a file that nothing loads is dead, and so is one that only a dead one loads", () => {
    const files = {
      "server/main.ts": `import "./a.ts";`,
      "server/a.ts": "",
      "server/b.ts": `import "./c.ts";`,
      "server/c.ts": "",
    };
    expect(deadFiles(files, ["server/main.ts"])).toEqual(["server/b.ts", "server/c.ts"]);
  });

  test("schemas that the browser would load are found, and types of them are none", () => {
    const found = (line: string) =>
      schemasInBrowser({
        "dashboard/src/lib/a.ts": line,
        "server/core/a.ts": `import { b } from "./b.ts";`,
        "server/core/b.ts": `import { Type } from "@sinclair/typebox";`,
      });
    expect(found(`import { a } from "../../../server/core/a.ts";`)).toEqual(["server/core/b.ts"]);
    expect(found(`import type { A } from "../../../server/core/a.ts";`)).toEqual([]);
  });

  test("a package in the wrong place is found", () => {
    const wrong = {
      "server/runs/store.ts": `import { t } from "elysia";`,
      "server/lib/a.ts": `import { fetch } from "undici";`,
      "server/mcp/client.ts": `import { Client } from "@modelcontextprotocol/sdk/client/index.js";`,
      "server/app.ts": `import * as tf from "@tensorflow/tfjs-core";`,
    };
    expect(packageFaults(wrong)).toHaveLength(4);
    expect(packageFaults({ "server/runs/routes.ts": `import { t } from "elysia";` })).toEqual([]);
  });

  test("a statement that does not name its columns is found", () => {
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

  test("what was left behind is found", () => {
    const left = [
      "// TO" + "DO later",
      "test.only('a', b)",
      "  debugger;",
      "console.log(1)",
      "process.stdout.write(a)",
    ];
    for (const source of left) expect(leftovers({ "server/cli/a.ts": source })).toHaveLength(1);
    expect(leftovers({ "scripts/a.ts": "console.log(1)" })).toEqual([]);
  });
});

describe("a text that is not said any more", () => {
  const found = (source: string, path = "dashboard/src/a.tsx") => textFaults({ [path]: source }).length;

  test.each([
    '<Field label="Tried again" />',
    "<p>\n  Tried\n  again\n</p>",
    "<p>{`Sum up`} the <b>oldest</b></p>",
    "<p>5.4 %</p>",
    "say(`$" + "{share} %`)",
    'failed("Nothing is called that")',
    'const words = { a: "Tried again" } as const;',
    'const columns = [{ label: "Acts", silent: true }];',
    '<Field label={isOld ? "Holds" : "Items"} />',
    "<a aria-label={`Tried again $" + "{count}`} />",
    '<p>Tried {isOld ? "again" : "once"}</p>',
    "<p>Tried&nbsp;again</p>",
    "<p>Tried<br />again</p>",
    '<p>{isOld && "Acts"}</p>',
    '<Row {...{ title: "Tried again" }} />',
    'const columns = ["Name", "Acts"];',
    'const words = { "Tried again": 1 };',
    "const words = { Acts: 1 };",
    'const word = { type: "Tried again" };',
    "const text = `$" + "{isOld ? `Tried` : `Done`} again`;",
    'const text = "Tried " + "again";',
    'const wordOf = () => "Acts";',
    'function show({ word = "Acts" }) {}',
    'toast("Acts")',
    'throw new ApiError("Tried again")',
    'class Fault { word = "Tried again" }',
    'enum Word { Again = "Tried again" }',
  ])("is found: %s", (source) => expect(found(source)).toBeGreaterThan(0));

  test("is found in the chat for other pages", () => {
    expect(found('say("Tried again")', "dashboard/embed/a.ts")).toBe(1);
  });

  test("is found in what the server says, too", () => {
    expect(found('fault("url", "It answered 502.")', "server/webhooks/a.ts")).toBe(1);
    expect(found('fault("url", "It answered 502.")', "server/webhooks/a.test.ts")).toBe(0);
  });

  test.each([
    "// Tried again, and again.",
    "/** `5.4 %` */",
    "index % 2;",
    "<p>Actions</p>",
    'import { a } from "Tried again";',
    'type Word = "Tried again";',
    '<p className="Holds" />',
    'if (word === "Look") show();',
  ])("is not found in what nobody reads: %s", (source) => expect(found(source)).toBe(0));
});

describe("a word that the glossary refuses is found", () => {
  const glossary = "| Word | Means | Never |\n| --- | --- | --- |\n| store | SQL | vault, depot (scripts/) |\n";
  const found = (source: string, path = "server/a.ts") => wordFaults({ [path]: source }, refusedWords(glossary)).length;

  test.each(["const vault = 1;", "createVault()", "// A vault.", "openVault", "class Vault {}"])("%s", (source) => {
    expect(found(source)).toBe(1);
  });

  test("but not as a part of another word, in a test, or in its own folder", () => {
    expect(found("vaulted, Vaulting")).toBe(0);
    expect(found("vault", "server/a.test.ts")).toBe(0);
    expect([found("depot", "scripts/a.ts"), found("depot")]).toEqual([0, 1]);
  });
});
