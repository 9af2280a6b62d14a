import { describe, expect, test } from "bun:test";
import type { SearchResult } from "../../../../server/domain/api-types/search.ts";
import { pageOfId, partOfRun } from "../../entities/crud/place-of-id.ts";
import { type Command, type CommandGroup, findCommands, firstCommand } from "./find-commands.ts";
import { pushRecent } from "./recent.ts";
import { groupsOf } from "./use-search-commands.ts";

const rest = "01kahvz3pn0000000000000000";

describe("a pasted id", () => {
  test("opens its page", () => {
    expect(pageOfId(` run_${rest}\n`)).toEqual({ noun: "Run", path: `/runs/run_${rest}` });
    expect(pageOfId(`trc_${rest}`)?.path).toBe(`/runs/run_${rest}`);
    expect(pageOfId(`file_${rest}`)?.path).toBe(`/files?file=file_${rest}`);
    expect(pageOfId(`key_${rest}`)?.path).toBe(`/keys?q=key_${rest}`);
  });

  test("of a request or a tool call is looked up among runs", () => {
    expect(partOfRun(` req_${rest} `)).toEqual({ id: `req_${rest}`, noun: "request" });
    expect(partOfRun(`call_${rest}`)?.noun).toBe("tool call");
    for (const text of [`run_${rest}`, `req_${rest}0`, "req_"]) expect(partOfRun(text)).toBeNull();
  });

  test("of an unknown kind, truncated or within other text opens nothing", () => {
    for (const text of ["", "runs", `run_${rest}0`, "run_01kahvz3pn", `see run_${rest}`, `foo_${rest}`])
      expect(pageOfId(text)).toBeNull();
  });
});

describe("commands", () => {
  const command = (label: string, more: Partial<Command> = {}) => ({ id: label, label, run() {}, ...more }) as Command;
  const groups: CommandGroup[] = [
    { value: "Go to", items: [command("Overview"), command("Runs"), command("API keys", { searchTerms: "secret" })] },
    { value: "Actions", items: [command("Create key"), command("Refund desk", { isHidden: true })] },
  ];
  const found = (text: string) => findCommands(groups, text).flatMap(({ items }) => items.map(({ label }) => label));

  test("are all listed without a search, except hidden ones", () => {
    expect(found("  ")).toEqual(["Overview", "Runs", "API keys", "Create key"]);
  });

  test("are found by all words in any order, and by their search terms", () => {
    expect(found("key")).toEqual(["API keys", "Create key"]);
    expect(found("key crea")).toEqual(["Create key"]);
    expect(found("secret")).toEqual(["API keys"]);
    expect(found("refund")).toEqual(["Refund desk"]);
    expect(found("nothing")).toEqual([]);
  });
});

test("Enter runs a match of the current text, never a result of an earlier text", () => {
  const group = (label: string) => ({ value: label, items: [{ id: label, label, run() {} } as unknown as Command] });
  const [old, create] = [group("Creative agent"), group("Create key")];
  expect(firstCommand([old], { isOfText: false, known: [create] })?.label).toBe("Create key");
  expect(firstCommand([old], { isOfText: false, known: [] })).toBeUndefined();
  expect(firstCommand([old], { isOfText: true, known: [] })?.label).toBe("Creative agent");
  expect(firstCommand([create, old], { isOfText: true, known: [create] })?.label).toBe("Create key");
});

test("recent objects are listed latest first, once each, eight at most", () => {
  const all = Array.from({ length: 9 }, (_, n) => ({ path: `/runs/${n}`, title: `Run ${n}` }));
  const list = all.reduce(pushRecent, [] as typeof all);
  expect(list).toHaveLength(8);
  expect(list[0]).toEqual(all[8]!);
  expect(pushRecent(list, all[8]!)).toBe(list);
  expect(
    pushRecent(list, all[5]!)
      .map(({ path }) => path)
      .slice(0, 2),
  ).toEqual(["/runs/5", "/runs/8"]);
});

test("search results are grouped by type, runs last, with a link to all runs", () => {
  const went: string[] = [];
  const found = [
    { type: "run", id: "run_1", title: "Where is my order?", status: "failed" },
    { type: "agent", id: "agt_1", title: "Order desk", snippet: "Answers about an order." },
  ] as SearchResult[];
  const groups = groupsOf(found, "my order", true, (path) => went.push(path));
  const shown = groups.map(({ value, items }) => [value, ...items.map(({ label, hint }) => `${label}: ${hint}`)]);
  expect(shown).toEqual([
    ["Agents", "Order desk: Answers about an order."],
    ["Runs", "Where is my order?: Failed", "All runs with “my order”: undefined"],
  ]);
  for (const { run } of groups.flatMap(({ items }) => items)) run();
  expect(went).toEqual(["/agents/agt_1", "/runs/run_1", "/runs?q=my%20order"]);
  expect(groupsOf(found.slice(1), "my order", false, () => {}).map(({ value }) => value)).toEqual(["Agents"]);
});
