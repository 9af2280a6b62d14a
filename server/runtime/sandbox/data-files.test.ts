import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { dataPythonFiles } from "../../../scripts/data-python-files.ts";
import { pythonFiles } from "../../../scripts/python-files.ts";
import type { ProgramFile } from "./program.ts";
import { createSandbox } from "./sandbox.ts";

// Data as people have it, read by programs as models write them. Each kind failed in another product's code interpreter.

// Ends a hang only: each program starts an interpreter, with a low priority.
setDefaultTimeout(180_000);

const sandbox = createSandbox({ level: () => "strict", places: { count: 1, reserve: 0 }, spares: 1, idle_ms: 60_000 });
beforeAll(async () => {
  await pythonFiles();
  if ((await dataPythonFiles()) === null) throw new Error("Python's packages need python3 with venv, and PyPI.");
}, 300_000);
afterAll(() => sandbox.stop());

const never = new AbortController().signal;
const file = (name: string, content: string | Uint8Array): ProgramFile => ({
  name,
  bytes: Uint8Array.from(typeof content === "string" ? Buffer.from(content) : content),
});

/** Runs a program with these files; it ends with a list, whose items are the results. */
const run = (code: string, files: ProgramFile[]) =>
  sandbox.run({ language: "python", code, arguments: null, files, timeout_ms: 60_000, memory_mb: 256 }, never);

/** A workbook of Excel 97, as xlwt writes it: two header rows, merged cells, a date, and a hidden sheet. */
const oldWorkbook = () =>
  gunzipSync(
    Buffer.from(
      "H4sIAAAAAAACA+1YTUgVURT+7sy853vie46mgQYiQmamkEbQRqfCcpOiPqiMoPwZQp484+Wi2mTZWwZBq6KNYIs2Vpt+6IfaRQRGLYIg" +
        "0KJVq6CgxdPpnDMzpU8DH5jwYr7hnnvm3PvNPXPvuT8zb2bL5qbuVc8jB+3QsehEEV5iU5Si/o0JKnccVv08QskJUFCIRmggwyE8jr0u" +
        "4jHk8Z6HhrvGC5LAJ0rHcRrdYym7dgOxX3wYUOxDmzIo9jTcpBRHlfhVLnJI5CaRd6TuE5F7xXJFZBvVnVPHMGt1N+7x4vioVidlcZIK" +
        "D4TzQSwtqMRLjuMLV5VbN4R96ZGB0QIrqDFKMA0a0k47Zaf5vhS3UAz0E5q7upo7OuZQQcM9jR9OLfDdn9fPawP7xtoVyP5zub3oL/YI" +
        "DWKu/ZpmABNwTioO5gxiaDC4JITEwKh9JkNRfijMoRFGwh5K2+NZNMk850Q1W3e27iY1bZ8aGUvRHOhtYdGqA4nsMEXV2WJe92WdMJet" +
        "EzGZPSUkh1EqepnMIZPczN7+9rZrsMc6IZYJ2RvcHWQruwsHF5lB5LiUiMe05wCNwtgh8pI8dYvo1SIr6LUor++p9JSDk1LnspTWUzu7" +
        "BO+sbUv0BtIzX3sf1mQ+W9tJn+mcP18x896aQh3taMPE52sSTapJ3bjOeGT5ufLWmo8iq1asOxHN9Hx3vG2yFAs806Q/GM/k7TXpHa6t" +
        "VqnNtjKR7p3fl+4dc3WvLW0VtiZs7sOn4i2zkybb+qRl5uk5PPZKF57L0oUVlrX18CuNWF/kWZrU8k8AGtq1ctznBmmV/YONiBH1WxZq" +
        "jKgVMcL9H+LzFvcqVuvVAAECBAgQIECA9YWS86F78jbko8E9txV5/3UWKC0Gv0n+W/RhjK5x+qQ8gBTlaZzLK342I6T8Z6k1cvz/hYwj" +
        "1HoaSQyKH8m845fO3Wrp+6yZaK7fFMq3/cV8/PzH7f8CKkeSYwAWAAA=",
      "base64",
    ),
  );

describe("a program reads", () => {
  test("a workbook in the old format of Excel, its merged cells, dates, and hidden sheets", async () => {
    const code = `
import pandas as pd
sheets = pd.read_excel("/input/sales.xls", sheet_name=None, header=None)
table = pd.read_excel("/input/sales.xls", header=[0, 1], index_col=0)
[list(sheets), table.columns.tolist(), table.index.tolist(), str(table.iloc[1, 1])[:10]]`;
    const { result, error } = await run(code, [file("sales.xls", oldWorkbook())]);
    expect([error, result]).toEqual([
      null,
      [
        ["Sales", "Secret"],
        [
          ["2025", "Q1"],
          ["2025", "Q2"],
        ],
        ["Süd", null],
        "2025-03-01",
      ],
    ]);
  });

  test("a workbook of today with two header rows, merged cells, dates as numbers, formulas and a hidden sheet", async () => {
    const code = `
import datetime, openpyxl, pandas as pd
book = openpyxl.Workbook()
sheet = book.active
for row in [["region", "2025", None], [None, "Q1", "Q2"], ["Süd", 10.5, 45717], [None, 1, "=B3+B4"]]:
    sheet.append(row)
sheet.merge_cells("B1:C1")
sheet.merge_cells("A3:A4")
hidden = book.create_sheet("Hidden")
hidden.sheet_state = "hidden"
hidden.append([datetime.date(2025, 3, 1)])
book.save("sales.xlsx")
table = pd.read_excel("sales.xlsx", header=[0, 1])
table.iloc[:, 0] = table.iloc[:, 0].ffill()
day = pd.to_datetime(table.iloc[0, 2], unit="D", origin="1899-12-30")
states = {name: openpyxl.load_workbook("sales.xlsx")[name].sheet_state for name in pd.ExcelFile("sales.xlsx").sheet_names}
[table.columns.get_level_values(0).tolist(), table.iloc[:, 0].tolist(), day, table.iloc[1, 2],
 openpyxl.load_workbook("sales.xlsx").active["C4"].value, states, pd.read_excel("sales.xlsx", "Hidden", header=None)[0]]`;
    const { result, error } = await run(code, []);
    expect(error).toBeNull();
    const [years, regions, day, formula, written, states, hidden] = result as unknown[];
    expect([years, regions, day]).toEqual([["region", "2025", "2025"], ["Süd", "Süd"], "2025-03-01T00:00:00"]);
    // Excel computes the formulas of a file when it opens it; a program that wrote the file has not.
    expect([formula, written, states]).toEqual([null, "=B3+B4", { Sheet: "visible", Hidden: "hidden" }]);
    expect(hidden).toContain("2025-03-01");
  });

  test("CSV files with semicolons and decimal commas, with a byte order mark, in UTF-16, and in Latin-1", async () => {
    const german = "Ort;Umsatz\r\nKöln;1.234,56\r\nBonn;2,5\r\n";
    const files = [
      file("german.csv", german),
      file("bom.csv", `\ufeff${german}`),
      file("utf16.csv", Buffer.from(`\ufeff${german.replaceAll(";", "\t")}`, "utf16le")),
      file("latin1.csv", Buffer.from(german, "latin1")),
    ];
    const code = `
import pandas as pd
def read(name, **more):
    table = pd.read_csv("/input/" + name, decimal=",", thousands=".", **more)
    return [*table.columns, *table.iloc[:, 0], float(table.Umsatz.sum())]
[read("german.csv", sep=";"), read("bom.csv", sep=";"), read("utf16.csv", sep="\\t", encoding="utf-16"),
 read("latin1.csv", sep=";", encoding="latin-1"), read("german.csv", sep=None, engine="python")]`;
    const { result, error } = await run(code, files);
    const expected = ["Ort", "Umsatz", "Köln", "Bonn", 1237.06];
    expect([error, result]).toEqual([null, Array(5).fill(expected)]);
  });

  test("files whose names have blanks, accents, other scripts and emoji, and archives of such files", async () => {
    const names = ["Umsätze – März 2025 (final).csv", "销售.csv", "sales 😀.csv", 'O\'Neil & "Sons".csv'];
    const code = `
import os, zipfile, pandas as pd
names = os.listdir("/input")
with zipfile.ZipFile("all.zip", "w") as archive:
    for name in names:
        archive.write("/input/" + name, name)
inside = zipfile.ZipFile("all.zip")
[[name, int(pd.read_csv("/input/" + name).a.sum()), int(pd.read_csv(inside.open(name)).a.sum())] for name in sorted(names)]`;
    const { result, error } = await run(
      code,
      names.map((name) => file(name, "a\n1\n2\n")),
    );
    const sorted = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect([error, result]).toEqual([null, sorted.map((name) => [name, 3, 3])]);
  });

  test("broken data to an error that names the fault: rows of other lengths, another encoding, no workbook", async () => {
    const code = `
import pandas as pd
def fault(read):
    try: return read()
    except Exception as error: return type(error).__name__ + ": " + str(error)
[fault(lambda: pd.read_csv("/input/rows.csv")), fault(lambda: pd.read_csv("/input/utf16.csv")),
 fault(lambda: pd.read_excel("/input/page.xls")), fault(lambda: pd.read_csv("/input/empty.csv"))]`;
    const { result, error } = await run(code, [
      file("rows.csv", "a,b\n1,2\n1,2,3\n"),
      file("utf16.csv", Buffer.from("\ufeffa,b\n", "utf16le")),
      file("page.xls", "<html><table><tr><td>1</td></tr></table></html>"),
      file("empty.csv", ""),
    ]);
    expect([error, result]).toEqual([
      null,
      [
        expect.stringContaining("Expected 2 fields in line 3, saw 3"),
        expect.stringContaining("UnicodeDecodeError"),
        expect.stringContaining("Excel file format cannot be determined"),
        expect.stringContaining("No columns to parse"),
      ],
    ]);
  });

  test.each([
    ["utf-16", Buffer.from("\ufeffa,b\n1,2\n", "utf16le")],
    ["cp1252", Buffer.from("Ort\nKöln\n", "latin1")],
  ])("a file in another encoding than UTF-8 to an error that says what to try: %s", async (encoding, bytes) => {
    const read = (more: string) =>
      run(`import pandas as pd\n[pd.read_csv("/input/a.csv"${more}).columns[0]]`, [file("a.csv", bytes)]);
    expect((await read("")).error?.message).toEndWith(`The bytes are not UTF-8: try encoding="${encoding}".`);
    expect((await read(`, encoding="${encoding}"`)).error).toBeNull();
  });
});

test("a chart with letters that no font has says so, and is drawn", async () => {
  const code = `
import matplotlib.pyplot as plt
plt.bar(["北", "Süd"], [1, 2])
plt.savefig("chart.png")
[1]`;
  const { error, stderr, files } = await run(code, []);
  expect([error, files.map(({ name }) => name)]).toEqual([null, ["chart.png"]]);
  expect(stderr).toContain("missing from font");
});
