import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createProgram } from "../server/cli/program.ts";
import { flagsByGroup } from "../server/cli/serve/setting-groups.ts";
import { internalVariables } from "../server/cli/serve/variables.ts";
import { frameNames, testEvent, webhookEvents } from "../server/domain/api-types/enums.ts";
import { frameOf } from "../server/domain/api-types/frames.ts";
import { catalogue, runErrors } from "../server/domain/errors.ts";
import { prefixes } from "../server/domain/ids.ts";
import { limits } from "../server/domain/limits.ts";
import { defaultLimits } from "../server/domain/project-settings.ts";
import type { JournalEntry } from "../server/domain/run-event.ts";
import { eventFields } from "../server/domain/run-event.ts";
import { everyCode } from "../server/http/describe-operations.ts";
import { testApp } from "../server/testing/test-app.ts";
import { referencePages } from "./docs/build-docs.ts";
import { commandsOf, flagsOf } from "./docs/commands.ts";
import { type Page, writtenPages } from "./docs/pages.ts";
import { sentencesIn, sentencesInTables } from "./docs/prose.ts";
import { commandsIn, faultOf } from "./docs/typed-commands.ts";
import { inProject, root } from "./root.ts";
import type { OpenApi } from "./sdk-codegen/openapi.ts";
import { findEmptyDescriptions, findMissingDescriptions, findMissingUnits } from "./undescribed.ts";

// The reference is complete: each item of the code is on exactly one of its pages.
let document: OpenApi;
let operations: ReturnType<typeof testApp>["operations"];
let routes: string[] = [];
let pages: Page[] = [];
beforeAll(async () => {
  await using server = testApp();
  document = (await server.send("GET", "/docs/openapi.json")).body;
  operations = server.operations;
  routes = server.app.routes.map(({ method, path }) => `${method} ${path.replace(/(?<=.)\/$/, "")}`);
  pages = referencePages(document);
});

/** Returns the names that are not on exactly one page, with the pages that have them. */
function misplaced(names: readonly string[], isOn: (page: Page, name: string) => boolean): [string, string[]][] {
  expect(names.length).toBeGreaterThan(0);
  return names
    .map((name): [string, string[]] => [name, pages.filter((page) => isOn(page, name)).map(({ path }) => path)])
    .filter(([, paths]) => paths.length !== 1);
}

/** Returns the number of occurrences of a text. */
const countOf = (text: string, part: string): number => text.split(part).length - 1;
const hasOnce = ({ markdown }: Page, part: string): boolean => countOf(markdown, part) === 1;
const pageAt = (path: string): Page => pages.find((page) => page.path === path)!;

describe("exactly one page of the reference has", () => {
  test("every operation of the API, with its scope and its limit", () => {
    const all = Object.entries(operations);
    const named = all.map(([route]) => `\`\`\`http\n${route.replaceAll(/:(\w+)/g, "{$1}")}\n`);
    expect(misplaced(named, hasOnce)).toEqual([]);
    const silent = all.filter(([, { id, needs, bucket }]) => {
      const { markdown } = pageAt(`reference/api/${id}`);
      const scope = needs === "read_or_run" ? "`read` or `run`" : `\`${needs}\``;
      return !markdown.includes(`needs the scope ${scope}.`) || !markdown.includes(`limits.md#${bucket})`);
    });
    expect(silent.map(([route]) => route)).toEqual([]);
  });

  test("every other address, except those of the dashboard", () => {
    const open = routes.filter((route) => !/ \/(console|dashboard|v1)(\/|$)/.test(route));
    expect(misplaced([...new Set(open)], (page, route) => hasOnce(page, `| \`${route}\` |`))).toEqual([]);
  });

  test("every command, as typed", () => {
    const typed = commandsOf(createProgram()).map((one) => `# ${one.typed}\n`);
    expect(misplaced(typed, ({ markdown }, head) => markdown.startsWith(head))).toEqual([]);
  });

  test("every flag of a command, with its variable", () => {
    const wrong = commandsOf(createProgram()).flatMap(({ command, typed, name }) =>
      flagsOf(command)
        .filter(
          ({ flags, envVar }) => !hasOnce(pageAt(`reference/commands/${name}`), `| \`${flags}\` | \`${envVar}\` |`),
        )
        .map(({ flags }) => `${typed} ${flags}`),
    );
    expect(wrong).toEqual([]);
  });

  test("every environment variable of the server", () => {
    const read = [...new Set(sources().flatMap(variablesIn))];
    expect(read).toContain("OPENAI_API_KEY");
    expect(read).toContain("RUNNEL_MODEL_<NAME>_API_KEY");
    expect(
      misplaced(
        read,
        (page, name) =>
          /^reference\/(configuration|variables|command-variables)$/.test(page.path) &&
          hasOnce(page, `\n| \`${name}\` |`),
      ),
    ).toEqual([]);
  });

  test("no variable that is not a setting", () => {
    const told = pages.flatMap(({ path, markdown }) =>
      internalVariables.filter((name) => markdown.includes(name)).map((name) => `${path}: ${name}`),
    );
    expect(told).toEqual([]);
  });

  test("the settings of the server in the groups of its help", () => {
    const serve = createProgram().commands.find((command) => command.name() === "serve")!;
    const groups = flagsByGroup(serve).map(({ group }) => group);
    const headings = (path: string) => [...pageAt(path).markdown.matchAll(/^## (.+)$/gm)].map(([, title]) => title!);
    expect(headings("reference/commands/serve")).toEqual(groups);
    expect(headings("reference/variables")).toEqual(groups);
    const listed = [...pageAt("reference/configuration").markdown.matchAll(/^- \[(.+?)\]/gm)];
    expect(listed.map(([, title]) => title!)).toEqual(groups);
  });

  test("every event of a stream, and every webhook event", () => {
    expect(misplaced([...frameNames], ({ markdown }, event) => markdown.startsWith(`# ${event}\n`))).toEqual([]);
    const told = [...webhookEvents, testEvent].map((event) => `\n| \`${event}\` |`);
    expect(misplaced(told, hasOnce)).toEqual([]);
  });

  test("every error, with its status and its meaning, and no other", () => {
    const refusals = Object.entries(catalogue).map(
      ([code, { status, meaning }]) => `\n## ${code}\n\nStatus ${status}. ${meaning}\n`,
    );
    const ends = Object.entries(runErrors).map(([code, meaning]) => `\n## ${code}\n\n${meaning}\n`);
    expect(misplaced([...refusals, ...ends], hasOnce)).toEqual([]);
    const parts = pages.filter(({ path }) => /^reference\/errors\/(?!index$)/.test(path));
    const headings = parts.flatMap(({ markdown }) => [...markdown.matchAll(/^## (.+)$/gm)]);
    expect(headings).toHaveLength(refusals.length + ends.length);
  });

  test("every limit, with its value", () => {
    const fixed = Object.entries(limits).map(([name, value]) => `\n| \`${name}\` | ${value.toLocaleString("en")} |`);
    const ofProjects = Object.keys(defaultLimits).map((name) => `\n### ${name}\n`);
    expect(misplaced([...fixed, ...ofProjects], hasOnce)).toEqual([]);
  });

  test("the prefix of every id", () => {
    expect(misplaced(Object.values(prefixes), (page, prefix) => hasOnce(page, `\n| \`${prefix}_\` |`))).toEqual([]);
  });
});

describe("a page of the reference tells", () => {
  // Uses journals with every kind of event, as they are sent to readers of the stream.
  test("every field of an event", () => {
    const journals = [...new Bun.Glob("server/domain/__fixtures__/journals/**/*.jsonl").scanSync({ cwd: root })];
    const entries = journals.flatMap((path) => readFileSync(inProject(path), "utf8").trimEnd().split("\n"));
    const all = entries.map((line): JournalEntry => JSON.parse(line));
    expect([...new Set(all.map(({ event }) => event.type))].sort()).toEqual(Object.keys(eventFields).sort() as never);
    const untold = all
      .map((entry) => frameOf("run_1", entry))
      .flatMap(({ event, data }) => {
        const { markdown } = pageAt(`reference/events/${event}`);
        return Object.keys(data)
          .filter((field) => !hasOnce({ markdown } as Page, `\n| \`${field}\` |`))
          .map((field) => `${event} ${field}`);
      });
    expect([...new Set(untold)]).toEqual([]);
  });

  test("the errors specific to an operation, and no other", () => {
    for (const { id, responses } of Object.values(operations)) {
      const { markdown } = pageAt(`reference/api/${id}`);
      const told = [...markdown.matchAll(/\[`(\w+)`\]\(\.\.\/errors\//g)].map(([, code]) => code);
      const has = Object.values(responses).flatMap(({ codes = [] }) => codes);
      expect({ id, codes: told.sort() }).toEqual({
        id,
        codes: has.filter((code) => !everyCode.includes(code as never)).sort(),
      });
    }
  });

  test("the operations that continue while the disk is nearly full", () => {
    const wrong = Object.values(operations).filter(({ id, method, needsFreeDisk }) => {
      const goesOn = method !== "GET" && !needsFreeDisk;
      return goesOn !== pageAt(`reference/api/${id}`).markdown.includes("It goes on while the disk is nearly full.");
    });
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });

  test("the meaning of an event, in a sentence", () => {
    const silent = frameNames.filter((event) => !/[.]$/.test(pageAt(`reference/events/${event}`).summary));
    expect(silent).toEqual([]);
    expect(pages.filter(({ markdown }) => markdown.includes("`data` | object | The items of this page."))).toEqual([]);
  });
});

describe("the documentation", () => {
  test("contains only existing commands, with valid arguments and flags", () => {
    const readme = { path: "README", markdown: readFileSync(inProject("README.md"), "utf8") };
    const typed = [...writtenPages(), readme].flatMap(({ path, markdown }) =>
      commandsIn(markdown).map((words) => ({ path, words })),
    );
    expect(typed.length).toBeGreaterThan(40);
    const faults = typed.map(({ path, words }) => [path, faultOf(createProgram(), words)]);
    expect(faults.filter(([, fault]) => fault !== null)).toEqual([]);
    for (const wrong of ["serve --prot 1", "keys make", "serve --sandbox loose", "trace", "projects archive a b"])
      expect(faultOf(createProgram(), ["runnel", ...wrong.split(" ")])).toBeString();
  });

  test("has no sentence of more than 30 words in generated pages, tables included", () => {
    const isLong = (sentence: string) => sentence.split(/\s+/).length > 30;
    const long = pages.flatMap(({ path, markdown }) =>
      [...sentencesIn(markdown), ...sentencesInTables(markdown)].filter(isLong).map((one) => `${path}: ${one}`),
    );
    expect(long).toEqual([]);
  });
});

test("the page of the audit log names every action, and no other", () => {
  const page = readFileSync(inProject("server/docs/operate/audit-log.md"), "utf8");
  const rows = page.split("\n").flatMap((line) => /^\| (`[^|]+) \|/.exec(line)?.[1] ?? []);
  const named = rows.flatMap((cell) => cell.match(/\w+\.\w+/g) ?? []);
  expect(named.toSorted()).toEqual([...new Set(sources().flatMap(actionsIn))].sort());
});

const openApi = async () => {
  await using server = testApp();
  return (await (await server.client()).get("/v1/openapi.json")).body;
};

describe("GET /v1/openapi.json", () => {
  test("describes every property, parameter and header, and has an example of every operation", async () => {
    expect(findMissingDescriptions(await openApi())).toEqual([]);
  });

  test("is refused if one property, parameter or example is missing", async () => {
    const document = await openApi();
    delete document.components.schemas.Run.properties.status.description;
    delete document.paths["/v1/agents"].get.parameters[0].description;
    delete document.paths["/v1/runs"].post.requestBody.content["application/json"].example;
    delete document.paths["/v1/runs"].post.responses[201].content["application/json"].example;
    expect(findMissingDescriptions(document)).toEqual([
      "Run.status",
      "agents.list?limit",
      "runs.create has no example of its request",
      "runs.create has no example of its response",
    ]);
  });
});

describe("the description of a property", () => {
  test("says more than the words of its name and of its object", async () => {
    expect(findEmptyDescriptions(await openApi())).toEqual([]);
  });

  test("names the unit of a time, a size or an amount", async () => {
    expect(findMissingUnits(await openApi())).toEqual([]);
    const properties = { latency_ms: { description: "How long it took." }, cost_usd: { description: "In USD." } };
    expect(findMissingUnits({ components: { schemas: { ToolCall: { properties } } } })).toEqual([
      "ToolCall.latency_ms",
    ]);
  });

  test.each([
    ["Agent", "name", "Its name."],
    ["Agent", "object", "What this object is."],
    ["Agent", "created_at", "When it was created."],
    ["RunCompletedEventData", "run_id", "The run."],
    ["Suite", "description", "What the suite is for; null: no description."],
    ["ToolCall", "tool_calls", "The tool calls."],
    ["FileObject", "status", "Status of the files."],
    ["Run", "status", ""],
  ])("is refused if it does not: %s.%s, %p", (name, field, description) => {
    const document = { components: { schemas: { [name]: { properties: { [field]: { description } } } } } };
    expect(findEmptyDescriptions(document)).toEqual([`${name}.${field}: ${description}`]);
  });

  test.each([
    ["Agent", "name", "The name by which requests may give the agent."],
    ["Agent", "object", "Always `agent`."],
    ["Usage", "latency_ms", "How long it took, in milliseconds."],
    ["Deleted", "deleted", "Always true."],
  ])("is taken if it does: %s.%s, %p", (name, field, description) => {
    const document = { components: { schemas: { [name]: { properties: { [field]: { description } } } } } };
    expect(findEmptyDescriptions(document)).toEqual([]);
  });
});

describe("a promise is proven by", () => {
  const promises = readFileSync(inProject("server/docs/explain/promises.md"), "utf8");
  const rows = promises.split("\n").filter((line) => /^\|.*`[\w/.-]+\.ts`/.test(line));
  const proofs = rows.flatMap((row) =>
    [...row.matchAll(/`([\w/.-]+\.ts)`(?:: "([^"]+)")?/g)].map(([, path, title]) => ({
      path: path!,
      title: title ?? "",
    })),
  );

  test("at least one test, for each of the eleven", () => {
    const numbered = promises.split("\n").flatMap((line) => /^\| (P\d+) \|/.exec(line)?.[1] ?? []);
    expect(numbered).toEqual(Array.from({ length: 11 }, (_, index) => `P${index + 1}`));
    expect(rows.filter((row) => /^\| P\d+ \|/.test(row)).length).toBe(11);
    expect(proofs.length).toBeGreaterThan(22);
  });

  test.each(proofs)("$path $title, an existing test that it names", ({ path, title }) => {
    expect(title).not.toBe("");
    expect(readFileSync(inProject(path), "utf8")).toContain(title);
  });
});

/** Returns the environment variables that a source names; `<NAME>` stands for a part that the operator chooses. */
function variablesIn(source: string): string[] {
  const whole =
    source.match(/\b(?:RUNNEL|BUN_CONFIG|OPENAI|ANTHROPIC|GOOGLE|OLLAMA|AWS|OTEL)_[A-Z0-9_]*[A-Z0-9]\b/g) ?? [];
  const open = [...source.matchAll(/\b(RUNNEL_[A-Z]+_)(?:\$\{\w+\}|\(\[A-Z0-9_\]\+\)|<[A-Z]+>)(_[A-Z_]*[A-Z])\b/g)];
  return [...whole.filter((name) => !notSettings.has(name)), ...open.map(([, start, end]) => `${start}<NAME>${end}`)];
}

/** Values of examples, and variables that only the providers' own libraries read. */
const madeUp = new Set(["RUNNEL_MODEL_OLLAMA_MAX_CONCURRENT", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"]);

/** Names that are not settings of users. */
const notSettings = new Set([...madeUp, ...internalVariables]);

/** Returns the actions that a source writes to the audit log: literal ones, and those composed by a helper. */
function actionsIn(source: string): string[] {
  const noted = [...source.matchAll(/(?<!function )\b(?:note|byPerson)\([^"`;]*"([a-z_]+(?:\.[a-z_]+)?)"/g)].map(
    ([, done]) => done!,
  );
  const [, thing] = /\bnote\([^"`;]*`([a-z_]+)\.\$\{\w+\}`/.exec(source) ?? [];
  return noted.flatMap((done) => (done.includes(".") ? done : thing ? `${thing}.${done}` : []));
}

function sources(): string[] {
  const paths = [...new Bun.Glob("server/**/*.ts").scanSync({ cwd: root })];
  return paths
    .filter((path) => !/\.test\.ts$|^server\/testing\//.test(path))
    .map((path) => readFileSync(inProject(path), "utf8"));
}
