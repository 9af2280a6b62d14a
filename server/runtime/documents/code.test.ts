import { describe, expect, test } from "bun:test";
import { chunkSections } from "./chunking.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { parse } from "./parse.ts";

const read = async (content: string, type: string) => {
  const { sections, report } = await parse(Buffer.from(content), type);
  return { sections, text: sections.map(({ text }) => text).join("\n\n"), warnings: report.warnings };
};

describe("code", () => {
  const method = (name: string) =>
    `    def ${name}(self):\n        # Reads it. Returns ${name}.\n        return "${name}"\n`;
  const python = `# A comment, no heading\n\nclass Boat:\n${method("oar")}\n${method("mast")}\n\n\nclass House:\n${method("door")}`;

  test("is read as it is, with its indentation, and no comment is a heading", async () => {
    const { sections } = await read(`\n${python}`, "text/x-python");
    expect(sections).toEqual([{ text: python.trimEnd(), page: null, heading: null, isCode: true }]);
  });

  test("is cut between its definitions, and else between its lines", async () => {
    const { sections } = await read(python, "text/x-python");
    const chunks = (max: number) =>
      [...chunkSections(sections, { max_chunk_size_tokens: max, chunk_overlap_tokens: 0 }, estimateTokens)].map(
        ({ text }) => text,
      );
    const whole = chunks(80);
    expect(whole.length).toBe(2);
    expect(whole[1]).toStartWith("class House:\n    def door");
    const lines = new Set(python.split("\n"));
    for (const text of chunks(30)) for (const line of text.split("\n")) expect(lines.has(line)).toBe(true);
  });

  test("of XML is its source, with the names of its elements", async () => {
    const xml = '<?xml version="1.0"?><rows><row name="lighthouse">4711</row></rows>';
    expect((await read(xml, "application/xml")).text).toBe(xml);
  });
});

test("a line of a contact that only names its encoding, again and again, is read in linear time", async () => {
  const line = `A${";ENCODING=QUOTED-PRINTABLE".repeat(100_000)}`;
  expect((await read(line, "text/vcard")).text).toBe(line);
});

test("calendars and contacts have their folded lines whole", async () => {
  const calendar =
    "BEGIN:VEVENT\r\nSUMMARY:Meeting at the light\r\n house\\, upstairs\r\nDESCRIPTION:one\\ntwo\r\nEND:VEVENT\r\n";
  expect((await read(calendar, "text/calendar")).text).toBe(
    "BEGIN:VEVENT\nSUMMARY:Meeting at the lighthouse, upstairs\nDESCRIPTION:one two\nEND:VEVENT",
  );
  const card = "BEGIN:VCARD\nN;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:M=FCller;J=F6=\nrg\nEND:VCARD\n";
  expect((await read(card, "text/vcard")).text).toBe(
    "BEGIN:VCARD\nN;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:Müller;Jörg\nEND:VCARD",
  );
});

describe("JSON", () => {
  test("keeps duplicate keys, the order of keys, and every digit", async () => {
    expect((await read('{"a":"first","a":"second","2":1,"1":2}', "application/json")).text).toBe(
      "a: first\n\na: second\n\n2: 1\n\n1: 2",
    );
    expect(
      (await read('{"id": 12345678901234567890, "price": 1.10, "x": 1e400, "z": -0}', "application/json")).text,
    ).toBe("id: 12345678901234567890\n\nprice: 1.10\n\nx: 1e400\n\nz: -0");
    expect((await read('{"a":{"b":9007199254740993,"b":2,"c":[],"d":{}}}', "application/json")).text).toBe(
      'a: {\n  "b": 9007199254740993,\n  "b": 2,\n  "c": [],\n  "d": {}\n}',
    );
  });

  test("has line ends within strings as space, so that no letter joins the next word", async () => {
    expect((await read('[{"a":"one\\ntwo \\"three\\" C:\\\\new"}]', "application/json")).text).toBe(
      '{\n  "a": "one two \\"three\\" C:\\\\new"\n}',
    );
  });

  test("keeps strings of any length", async () => {
    const long = "lighthouse\n\\".repeat(500_000);
    expect((await read(JSON.stringify({ a: long }), "application/json")).text).toBe(`a: ${long}`);
  });

  test("with comments or errors is read as text, with a warning", async () => {
    const { text, warnings } = await read('// settings\n{"a": "lighthouse", /* c */ "b": 1,}', "application/json");
    expect(text).toBe('// settings\n{"a": "lighthouse", /* c */ "b": 1,}');
    expect(warnings).toEqual([
      { code: "type_mismatch", message: "The file is not valid JSON, so it was read as plain text.", page: null },
    ]);
  });

  test("of one value per line is read under either name, and so is one value in several lines", async () => {
    const values = '{\n  "a": 1\n}\n\n{\n  "a": 2\n}';
    expect(await read('{"a":1}\n{"a":2}\n', "application/json")).toMatchObject({ text: values, warnings: [] });
    expect(await read('{"a":1}\n{"a":2}\n', "application/jsonl")).toMatchObject({ text: values, warnings: [] });
    expect(await read('{\n"a": 1\n}\n', "application/jsonl")).toMatchObject({ text: "a: 1", warnings: [] });
  });

  test("lines that are invalid are kept as text, and the warning names them", async () => {
    const { text, warnings } = await read('{"a":"first"}\n{"a":\n\n{"a":"third"}\n', "application/jsonl");
    expect(text).toBe('{\n  "a": "first"\n}\n\n{"a":\n\n{\n  "a": "third"\n}');
    expect(warnings.map(({ message }) => message)).toEqual(["Line 2 is not valid JSON, so it was read as plain text."]);
    const many = await read('{"a":1}\nb\nc\nd\ne\nf\ng\n', "application/jsonl");
    expect(many.warnings[0]?.message).toBe(
      "Lines 2, 3, 4, 5, 6 and 1 more are not valid JSON, so they were read as plain text.",
    );
  });
});
