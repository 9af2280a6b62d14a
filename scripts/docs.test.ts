import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { createProgram } from "../server/cli/program.ts";
import { catalogue, errorCodes, runErrors } from "../server/core/errors.ts";
import { frameOf } from "../server/core/frames.ts";
import { prefixes } from "../server/core/ids.ts";
import { defaultLimits } from "../server/core/project-settings.ts";
import type { JournalEntry } from "../server/core/run-event.ts";
import { eventFields } from "../server/core/run-event.ts";
import { testApp } from "../server/testing/test-app.ts";
import { testEvent, webhookEvents } from "../server/wire/names.ts";
import { inProject, root } from "./root.ts";
import { undescribed } from "./undescribed.ts";

// What the README does not name does not exist for its reader: whatever is added to the code must be added there too.
const readme = readFileSync(inProject("README.md"), "utf8");
const names = (word: string) => new RegExp(`(?<![\\w/-])${RegExp.escape(word)}(?![\\w/:-])`).test(readme);
const unnamed = (words: Iterable<string>) => [...new Set(words)].filter((word) => !names(word)).sort();

/** The rows of the table whose head begins so, by cell. */
const table = (head: string): string[][] => {
  const lines = readme.slice(readme.indexOf(`\n| ${head} |`) + 1).split("\n");
  const rows = lines.slice(
    2,
    lines.findIndex((line) => !line.startsWith("|")),
  );
  return rows.map((row) => row.slice(2, -2).split(" | "));
};
const quoted = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, word]) => word!);

describe("README.md names", () => {
  test("every route, as `METHOD /path`", async () => {
    await using server = testApp();
    // The dashboard's own addresses serve its pages alone and may change with them.
    const open = server.app.routes.filter(({ path }) => !/^\/(console|dashboard)(\/|$)/.test(path));
    expect(open.length).toBeGreaterThan(0);
    expect(unnamed(open.map(({ method, path }) => `${method} ${path.replace(/(?<=.)\/$/, "")}`))).toEqual([]);
  });

  test("every route under /v1 with the scope that it asks for", async () => {
    await using server = testApp();
    const rows = [...readme.matchAll(/^\| `([A-Z]+ \/v1[^`?]*)` \| ([^|]+) \|/gm)].map(([, route, scope]) => [
      route,
      scope,
    ]);
    const asked = Object.entries(server.operations).map(([route, { needs }]) => [route, needs.replace("_or_", "·")]);
    expect(rows.sort()).toEqual(asked.sort());
  });

  test("every command, as it is typed", () => {
    const commands = all(createProgram()).filter(({ command }) => command.commands.length === 0);
    expect(commands.length).toBeGreaterThan(0);
    expect(unnamed(commands.map(({ typed }) => typed))).toEqual([]);
  });

  test("every flag", () => {
    const flags = all(createProgram()).flatMap(({ command }) => command.options.filter((option) => !option.hidden));
    expect(flags.length).toBeGreaterThan(0);
    expect(unnamed(flags.map(({ long, flags }) => long ?? flags))).toEqual([]);
  });

  test("every environment variable that the server reads", () => {
    const variables = sources().flatMap((source) => source.match(/\bRUNNEL_[A-Z0-9_]*[A-Z0-9]\b/g) ?? []);
    expect(variables.length).toBeGreaterThan(0);
    expect(unnamed(variables)).toEqual([]);
  });
});

describe("README.md tells", () => {
  test("the prefix of every id, in one place", () => {
    const [, listed = ""] = /Ids are a prefix and 26 characters \(([^)]*)\)/.exec(readme) ?? [];
    const known = Object.values(prefixes).map((prefix) => `\`${prefix}_\``);
    expect([...listed.matchAll(/`\w+`/g)].map(String).sort()).toEqual(known.sort());
  });

  // By journals that have every event there is, as they go out: what they have, a reader of the stream meets.
  test("every event of a stream, with all that it says", () => {
    const journals = [...new Bun.Glob("server/core/__fixtures__/journals/**/*.jsonl").scanSync({ cwd: root })];
    const entries = journals.flatMap((path) => readFileSync(inProject(path), "utf8").trimEnd().split("\n"));
    const all = entries.map((line): JournalEntry => JSON.parse(line));
    expect([...new Set(all.map(({ event }) => event.type))].sort()).toEqual(Object.keys(eventFields).sort() as never);
    const fields = new Map<string, Set<string>>([["token", new Set(["delta", "kind", "offset", "step_index"])]]);
    for (const { event, data } of all.map((entry) => frameOf("run_1", entry)))
      fields.set(event, new Set([...(fields.get(event) ?? []), ...Object.keys(data)]));
    const rows = new Map(table("Event | Data").map(([name, data]) => [quoted(name!)[0]!, data!]));
    expect([...rows.keys()].sort()).toEqual([...fields.keys()].sort());
    const ofEach = new Set(["seq", "run_id", "at"]);
    const left = [...fields].map(([event, names]) => {
      const told = new Set((rows.get(event) ?? "").match(/\w+/g));
      return { event, untold: [...names].filter((name) => !ofEach.has(name) && !told.has(name)) };
    });
    expect(left.filter(({ untold }) => untold.length > 0)).toEqual([]);
  });

  test("every event that webhooks hear of, and no other", () => {
    const told = table("Field of `POST /v1/webhooks`").find(([field]) => field === "`events`")!;
    expect(quoted(told[1]!).sort()).toEqual([...webhookEvents, "*"].sort());
    expect(unnamed([testEvent])).toEqual([]);
  });

  test("every error of the API and of a failed run, with its status and what it means, and no other", () => {
    const refusals = Object.entries(catalogue).map(([code, { status, meaning }]) => [
      `${status}`,
      `\`${code}\``,
      meaning,
    ]);
    expect(table("Status | Code").sort()).toEqual(refusals.sort());
    const ends = Object.entries(runErrors).map(([code, meaning]) => [`\`${code}\``, meaning]);
    expect(table("Code of a run's error").sort()).toEqual(ends.sort());
  });

  test("which errors a route has of its own, and none that it has not", async () => {
    await using server = testApp();
    const rows = [...readme.matchAll(/^\| `([A-Z]+ \/v1[^`?]*)` \| .*$/gm)].map(([row, route]) => {
      const { errors = [], responses } = server.operations[route!]!;
      const told = quoted(row).filter((word) => errorCodes.includes(word as never));
      const has = Object.values(responses).flatMap(({ codes = [] }) => codes) as string[];
      return {
        route,
        untold: errors.filter((code) => !told.includes(code)),
        wrong: told.filter((code) => !has.includes(code)),
      };
    });
    expect(rows.filter(({ untold, wrong }) => untold.length > 0 || wrong.length > 0)).toEqual([]);
  });

  test("which limit a route counts for, and what each is by itself", async () => {
    await using server = testApp();
    const rows = table("Limit | Default | Counts");
    expect(rows.map(([limit, value]) => [quoted(limit!)[0], Number(value)])).toEqual(Object.entries(defaultLimits));
    const told = rows.flatMap(([limit, , counts]) =>
      quoted(counts!).flatMap((route) => (route.includes("/v1") ? [`${route} ${quoted(limit!)[0]}`] : [])),
    );
    const declared = Object.entries(server.operations)
      .filter(([, { method, bucket }]) => bucket !== (method === "GET" ? "reads_per_minute" : "writes_per_minute"))
      .map(([route, { bucket }]) => `${route} ${bucket}`);
    expect(told.sort()).toEqual(declared.sort());
  });

  test("which routes go on while the disk is nearly full", async () => {
    await using server = testApp();
    const [, told = ""] = /^\*\*Full disk\.\*\* (.*?)\n\n/ms.exec(readme) ?? [];
    const goOn = Object.entries(server.operations).filter(
      ([, { method, needsFreeDisk }]) => !["GET", "DELETE"].includes(method) && !needsFreeDisk,
    );
    const routes = quoted(told).filter((word) => word.includes(" /v1/"));
    expect(routes.sort()).toEqual(goOn.map(([route]) => route).sort());
  });

  test("every field of a body of which it has a table, and no other", async () => {
    await using server = testApp();
    const told = [...readme.matchAll(/^\| (Field of `([A-Z]+ \/v1\/[^`]+)`) \|/gm)];
    expect(told.length).toBeGreaterThan(5);
    for (const [, head, route] of told) {
      const bodies = Object.values(server.operations[route!]!.takes!);
      const fields = new Set(bodies.flatMap(({ properties }) => Object.keys(properties)));
      const named = table(head!).flatMap(([field]) => quoted(field!));
      expect({ route, fields: named.sort() }).toEqual({ route, fields: [...fields].sort() });
    }
  });
});

describe("GET /v1/openapi.json", () => {
  const read = async () => {
    await using server = testApp();
    return (await (await server.client()).get("/v1/openapi.json")).body;
  };

  test("describes every property, parameter and header, and has an example of every operation", async () => {
    expect(undescribed(await read())).toEqual([]);
  });

  test("is refused with a property, a parameter or an example less", async () => {
    const document = await read();
    delete document.components.schemas.Run.properties.status.description;
    delete document.paths["/v1/agents"].get.parameters[0].description;
    delete document.paths["/v1/runs"].post.requestBody.content["application/json"].example;
    expect(undescribed(document)).toEqual(["Run.status", "agents.list?limit", "runs.create has no example"]);
  });
});

describe("a promise is proven by", () => {
  const promises = readFileSync(inProject("server/runs/README.md"), "utf8");
  const rows = (text: string) => text.split("\n").filter((line) => /^\| P\d+ \|/.test(line));
  const proofs = [...rows(readme), ...rows(promises)].flatMap((row) =>
    [...row.matchAll(/`([\w/.-]+\.ts)`(?:: "([^"]+)")?/g)].map(([, path, title]) => ({
      path: path!,
      title: title ?? "",
    })),
  );

  test("something, in both tables, for each of the eleven", () => {
    const numbers = Array.from({ length: 11 }, (_, index) => `P${index + 1}`);
    for (const text of [readme, promises]) expect(rows(text).map((row) => row.split(" ")[1]!)).toEqual(numbers);
    expect(proofs.length).toBeGreaterThan(22);
  });

  test.each(proofs)("$path $title, a test that it names and that is there", ({ path, title }) => {
    expect(title).not.toBe("");
    expect(readFileSync(inProject(path), "utf8")).toContain(title);
  });
});

function all(command: Command, typed = command.name()): { command: Command; typed: string }[] {
  return [{ command, typed }, ...command.commands.flatMap((child) => all(child, `${typed} ${child.name()}`))];
}

function sources(): string[] {
  const paths = [...new Bun.Glob("server/**/*.ts").scanSync({ cwd: root })];
  return paths
    .filter((path) => !/\.test\.ts$|^server\/testing\//.test(path))
    .map((path) => readFileSync(inProject(path), "utf8"));
}
