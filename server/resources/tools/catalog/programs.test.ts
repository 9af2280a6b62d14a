import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { pythonFiles } from "../../../../scripts/python-files.ts";
import type { ProgramFile } from "../../../runtime/sandbox/program.ts";
import { createSandbox } from "../../../runtime/sandbox/sandbox.ts";
import { temporaryFolder } from "../../../testing/temporary.ts";
import * as all from "./all.ts";
import type { CatalogEntry } from "./catalog-entry.ts";

// The programs of the catalogue, in the real sandbox.
// A hang only: each program starts an interpreter, with a low priority.
setDefaultTimeout(180_000);

const sandbox = createSandbox({ level: () => "strict", idle_ms: 60_000 });
beforeAll(pythonFiles, 180_000);
afterAll(() => sandbox.stop());

type Arguments = Record<string, unknown>;

/** Calls a tool's program with each of these arguments, in one interpreter, which takes a second to start. */
async function callEach(
  entry: CatalogEntry,
  calls: readonly Arguments[],
  files: ProgramFile[] = [],
  settings: Record<string, string> = {},
): Promise<unknown[]> {
  const [tool] = entry.tools(settings);
  const code = `${tool!.source}

of_one_call = main


def main(args):
    def answer(call):
        try:
            return of_one_call(call)
        except ValueError as error:
            return {"error": str(error)}

    return [answer(call) for call in args["calls"]]
`;
  const program = { language: "python" as const, code, arguments: { calls }, files, memory_mb: 512 };
  const { result, error } = await sandbox.run({ ...program, timeout_ms: 60_000 }, new AbortController().signal);
  expect(error).toBeNull();
  return result as unknown[];
}

const call = async (entry: CatalogEntry, args: Arguments, files?: ProgramFile[], settings?: Record<string, string>) =>
  (await callEach(entry, [args], files, settings))[0];

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

describe("the calculator", () => {
  const results = [
    ["0.1 + 0.2", "0.3"],
    ["(1.1 + 2.2) * 3", "9.9"],
    ["19.99 * 3", "59.97"],
    ["10 / 4", "2.5"],
    ["2 ** 64", "18446744073709551616"],
    ["2^10", "1024"],
    ["99999999999999999999 * 99999999999999999999", "9999999999999999999800000000000000000001"],
    ["round(10 / 3, 2)", "3.33"],
    ["round(2.675, 2)", "2.68"],
    ["-7 // 2", "-4"],
    ["-7 % 3", "2"],
    ["sqrt(2) * sqrt(2) > 1", null],
    ["factorial(20)", "2432902008176640000"],
    ["max(1, 2.5, -3)", "2.5"],
    ["sin(0) + cos(0)", "1"],
    ["1_000 × 3", "3000"],
    ["1e3", "1000"],
    ["2**200 + 1", "1606938044258990275541962092341162602522202993782792835301377"],
    ["-(2**200)", "-1606938044258990275541962092341162602522202993782792835301376"],
    ["abs(-(2**200)) - 2**200", "0"],
    ["10**60 // 7", "142857142857142857142857142857142857142857142857142857142857"],
    ["10**60 % 7", "1"],
    ["-5.5 // 2", "-3"],
    ["5.5 % -2", "-0.5"],
    ["7 % 0", null],
    ["round(2**200, 2) - 2**200", "0"],
    ["round(1250, -2)", "1300"],
    ["0x10 + 0b11", "19"],
    ["1e-60 * 2", "2E-60"],
    ["1 / 3", "0.33333333333333333333333333333333333333333333333333"],
    ["0 ** -1", null],
    ["log(0)", null],
    ["1e999999999", null],
    ["1e-999999999", null],
    ["exp(1000000)", null],
    ["round(1, 1000000000)", null],
    ["factorial(1000) * factorial(1000) * 9**5000", null],
    ["1 / 0", null],
    ["2 ** 1000000000", null],
    ["__import__('os').system('ls')", null],
    ["(1).__class__", null],
    ["[1, 2]", null],
    ["'a' * 3", null],
    ["True", null],
    ["1 +", null],
    [`9${"**9".repeat(50)}`, null],
    [`${"(".repeat(400)}1${")".repeat(400)}`, null],
  ] as const;

  test("computes decimal fractions and long whole numbers exactly, and refuses what is no expression", async () => {
    const expressions = results.map(([expression]) => ({ expression }));
    const answers = (await callEach(all.calculator, expressions)) as { result?: string }[];
    const shown = results.map(([expression], i) => [expression, answers[i]?.result ?? null]);
    expect(shown).toEqual(results.map((each) => [...each]));
  });

  test("says why an expression has no result", async () => {
    expect(await call(all.calculator, { expression: "1 / 0" })).toMatchObject({
      error: expect.stringContaining("divides by zero"),
    });
    expect(await call(all.calculator, { expression: "foo(1)" })).toMatchObject({
      error: expect.stringContaining("no part of an expression: foo(1)"),
    });
    const answers = await callEach(all.calculator, [{ expression: "sqrt()" }, { expression: "100 ** 5000" }]);
    expect(answers).toEqual([{ error: "sqrt does not take 0 values." }, { error: "The result is too long." }]);
  });
});

describe("the time", () => {
  test("of another zone is converted, with the day of the week", async () => {
    expect(await call(all.current_time, { time: "2026-07-01T23:30:00+00:00", time_zone: "Asia/Tokyo" })).toEqual({
      time: "2026-07-02T08:30:00+09:00",
      time_zone: "Asia/Tokyo",
      weekday: "Thursday",
      week: 27,
      unix_seconds: 1_782_948_600,
    });
  });

  test("is now, in the zone of the settings", async () => {
    const before = Math.floor(Date.now() / 1000);
    const now = (await call(all.current_time, {}, [], { time_zone: "Europe/Berlin" })) as Record<string, unknown>;
    expect(now).toMatchObject({ time_zone: "Europe/Berlin", time: expect.stringMatching(/\+0[12]:00$/) });
    expect(now.unix_seconds).toBeWithin(before, Math.floor(Date.now() / 1000) + 1);
  });

  test("of a zone that does not exist is an error that says how zones are named", async () => {
    expect(await call(all.current_time, { time_zone: "Berlin" })).toMatchObject({
      error: expect.stringContaining("There is no time zone Berlin. Zones are named like Europe/Berlin."),
    });
    const [gap, end] = await callEach(all.current_time, [
      { time: "2026-03-29T02:30:00", time_zone: "Europe/Berlin" },
      { time: "9999-12-31T23:59:59Z", time_zone: "Asia/Tokyo" },
    ]);
    expect(gap).toMatchObject({ unix_seconds: 1_774_747_800 });
    expect(end).toEqual({ error: "9999-12-31T23:59:59Z is outside of the years 1 to 9999 there." });
    expect(await call(all.current_time, { time: "tomorrow" })).toMatchObject({
      error: expect.stringContaining("tomorrow is no time"),
    });
  });
});

describe("SQL over files", () => {
  let files: ProgramFile[] = [];
  beforeAll(async () => {
    using folder = temporaryFolder();
    const path = `${folder.path}/shop.db`;
    const shop = new Database(path);
    shop.run("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, total REAL, paid BLOB)");
    shop.run(
      "INSERT INTO orders (id, customer, total, paid) VALUES (1, 'Ada', 10.5, x'00'), (2, 'Bob', 4, NULL), (9007199254740995, 'Ada', 1, NULL)",
    );
    shop.close();
    files = [
      { name: "shop.db", bytes: new Uint8Array(await Bun.file(path).arrayBuffer()) },
      { name: "Sales 2026.csv", bytes: bytes("\uFEFFregion;amount;code\nnorth;10;007\nsouth;32,5;8\n\nnorth;5;9\n") },
    ];
  });
  const query = (sql?: string, more: object = {}) => call(all.query_table, { ...(sql && { sql }), ...more }, files);

  test.each<[string, string, unknown[][]]>([
    ["one column whose texts have commas", 'name\nAda\n"Bob, Jr"\n', [["Ada"], ["Bob, Jr"]]],
    [
      "apostrophes",
      "id,name,z\n1,'tis,'x'\n2,it's,'y'\n",
      [
        [1, "'tis", "'x'"],
        [2, "it's", "'y'"],
      ],
    ],
    ["the separator that Excel names", "sep=;\r\na;b\r\n1;2,5\r\n", [[1, "2,5"]]],
    [
      "decimal commas",
      "a;b\n1,5;2\n2,5;3\n",
      [
        ["1,5", 2],
        ["2,5", 3],
      ],
    ],
    [
      "doubled quotes",
      'id,text\n1,"a"\n2,"say ""hi"", ok"\n',
      [
        [1, "a"],
        [2, 'say "hi", ok'],
      ],
    ],
    [
      "a line break in a text",
      'id\ttext\n1\t"a\nb"\n2\t\n',
      [
        [1, "a\nb"],
        [2, null],
      ],
    ],
    [
      "short and long rows",
      "a,b,c\n1,2\n1,2,3\n1,2,3\n",
      [
        [1, 2, null],
        [1, 2, 3],
        [1, 2, 3],
      ],
    ],
  ])("reads CSV with %s", async (_, text, rows) => {
    const sql = "select * from f";
    const answer = await call(all.query_table, { sql }, [{ name: "f.csv", bytes: bytes(text) }]);
    expect(answer).toMatchObject({ rows });
  });

  test("reads doubled quotes that come late in a file", async () => {
    const lines = Array.from({ length: 6000 }, (_, i) => `${i},"plain text"\n`).join("");
    const late = [{ name: "f.csv", bytes: bytes(`id,text\n${lines}6000,"x ""y"", z"\n`) }];
    const answer = await call(all.query_table, { sql: "select text from f where id = 6000" }, late);
    expect(answer).toMatchObject({ columns: ["text"], rows: [['x "y", z']] });
  });

  test("reads files whose names have a meaning in addresses, or for SQLite", async () => {
    const [shop] = files;
    const odd = [
      { name: "a 50%20#x?.db", bytes: shop!.bytes },
      { name: "sqlite_a.csv", bytes: bytes("n\n1\n") },
    ];
    const sql = "select count(*), (select n from t_sqlite_a) from a_50_20_x.orders";
    expect(await call(all.query_table, { sql }, odd)).toMatchObject({ rows: [[3, 1]] });
  });

  test("lists the tables of CSV files and databases, with columns and rows", async () => {
    expect(await query()).toEqual({
      tables: [
        {
          table: "sales_2026",
          file: "Sales 2026.csv",
          rows: 3,
          columns: ["region", "amount", "code"].map((name) => ({ name, type: "" })),
        },
        {
          table: "shop.orders",
          file: "shop.db",
          rows: 3,
          columns: [
            { name: "id", type: "INTEGER" },
            { name: "customer", type: "TEXT" },
            { name: "total", type: "REAL" },
            { name: "paid", type: "BLOB" },
          ],
        },
      ],
    });
  });

  test("keeps leading zeros and large numbers, and joins databases with CSV files", async () => {
    expect(await query("SELECT code, typeof(amount) FROM sales_2026 ORDER BY rowid")).toEqual({
      columns: ["code", "typeof(amount)"],
      rows: [
        ["007", "integer"],
        [8, "text"],
        [9, "integer"],
      ],
      has_more: false,
    });
    expect(await query("SELECT customer, sum(total), count(*) FROM shop.orders GROUP BY 1 ORDER BY 1")).toMatchObject({
      rows: [
        ["Ada", 11.5, 2],
        ["Bob", 4, 1],
      ],
    });
    expect(await query("SELECT id, paid FROM shop.orders ORDER BY id DESC", { limit: 1 })).toMatchObject({
      rows: [["9007199254740995", null]],
      has_more: true,
    });
  });

  test("refuses what is not one reading query", async () => {
    const queries = [
      "DELETE FROM shop.orders",
      "INSERT INTO sales_2026 (region, amount, code) VALUES ('x', 1, 1)",
      "CREATE TABLE x (a)",
      "DROP TABLE sales_2026",
      "UPDATE shop.orders SET total = 0",
      "ATTACH DATABASE '/input/shop.db' AS other",
      "PRAGMA writable_schema = 1",
      "PRAGMA shop.journal_mode = WAL",
      "SELECT load_extension('x')",
      "SELECT 1; SELECT 2",
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO sales_2026 (region) SELECT i FROM n",
      "SELEC 1",
      "VACUUM INTO '/output/copy.db'",
    ];
    const answers = (await callEach(
      all.query_table,
      queries.map((sql) => ({ sql })),
      files,
    )) as { error?: string }[];
    const run = queries.filter((_, i) => !answers[i]?.error?.startsWith("SQLite: "));
    expect(run).toEqual([]);
  });

  test("without such a file says so", async () => {
    expect(await call(all.query_table, {}, [{ name: "a.pdf", bytes: bytes("%PDF") }])).toMatchObject({
      error: expect.stringContaining("There is no CSV file and no SQLite database"),
    });
  });

  test("of a damaged database says so", async () => {
    const damaged = [{ name: "a.db", bytes: bytes(`SQLite format 3\0${"x".repeat(4096)}`) }];
    expect(await call(all.query_table, {}, damaged)).toMatchObject({
      error: expect.stringMatching(/cannot be read|SQLite/),
    });
  });
});
