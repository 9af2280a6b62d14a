import { expect, test } from "bun:test";
import { parse } from "./parse.ts";

const read = async (csv: string) => {
  const { sections } = await parse(new TextEncoder().encode(csv), "text/csv");
  return sections.map(({ text }) => text.replace(/\n\|(?: --- \|)+/g, "")).join("\n\n");
};

test.each<[what: string, csv: string, text: string]>([
  ["commas of decimals, with semicolons", "a;1,5\nb;2,5\nc;1.200,00\n", "| a | 1,5 |\n| b | 2,5 |\n| c | 1.200,00 |"],
  [
    "semicolons in texts, with commas",
    'd,t\n1,"Shop; Town"\n2,Bar | Grill\n',
    "| d | t |\n| 1 | Shop; Town |\n| 2 | Bar \\| Grill |",
  ],
  [
    "commas in texts, with tabs",
    "n\tt\nx\thello, world; ok\ny\tfine, too\n",
    "| n | t |\n| x | hello, world; ok |\n| y | fine, too |",
  ],
  [
    "a header with another separator than the rows have most",
    "a;b\tc\nx\t1,5\ny\t2,5\n",
    "| a;b | c |\n| x | 1,5 |\n| y | 2,5 |",
  ],
  ["bars", "a|b\n1|2\n", "| a | b |\n| 1 | 2 |"],
  [
    "commas in a single column of texts",
    "comment\nhello, world\nfine\nok, then, yes\n",
    "| comment |\n| hello, world |\n| fine |\n| ok, then, yes |",
  ],
  ["a single column", "name\noar\n", "| name |\n| oar |"],
  ["rows of any width", "a,b,c\n1\n2,3\n4,5,6,7\n", "| a | b | c |\n| 1 |\n| 2 | 3 |\n| 4 | 5 | 6 | 7 |"],
])("the separator of a table is the one that fits all of its rows: %s", async (_, csv, text) => {
  expect(await read(csv)).toBe(text);
});

test("the first line can name the separator, and is no row", async () => {
  expect(await read("sep=;\r\nname;price\r\noar;4,50\r\n")).toBe("| name | price |\n| oar | 4,50 |");
  expect(await read('"sep=\t"\na,b\tc\n1\t2\n')).toBe("| a,b | c |\n| 1 | 2 |");
});

test("lines above and below a table are paragraphs, and its header is its own", async () => {
  const csv =
    "Bank statement\n\nAccount:;DE12\n\nDate;Payee;Amount\n02.03.;Boathouse;-4,50\n03.03.;Lighthouse;5\nEnd of statement\n";
  expect(await read(csv)).toBe(
    "Bank statement\n\nAccount: DE12\n\n| Date | Payee | Amount |\n| 02.03. | Boathouse | -4,50 |\n| 03.03. | Lighthouse | 5 |\n\nEnd of statement",
  );
});

test.each<[what: string, csv: string, text: string]>([
  [
    "line ends and separators within quotes",
    'id,t\n1,"one\ntwo, still"\n2,x\n',
    "| id | t |\n| 1 | one two, still |\n| 2 | x |",
  ],
  ["doubled quotes", 'id,t\n1,"He said ""hi"", then"\n', '| id | t |\n| 1 | He said "hi", then |'],
  [
    "quotes that were not doubled",
    'id,t\n1,"He said "hi" there"\n2,x\n',
    '| id | t |\n| 1 | He said "hi" there |\n| 2 | x |',
  ],
  ["inches", "id,t,n\n1,5' 11\" tall,7\n", "| id | t | n |\n| 1 | 5' 11\" tall | 7 |"],
  ["a quote that nothing closes", 'id,t,n\n3,"open\n4,x,9\n', '| id | t | n |\n| 3 | "open |\n| 4 | x | 9 |'],
  [
    "a quote that nothing closes, before rows with quotes",
    'id,t\n3,"open\n4,"x"\n5,"y"\n',
    '| id | t |\n| 3 | "open |\n| 4 | x |\n| 5 | y |',
  ],
  ["spaces before a quote", 'a, "b, c", d\n1, "2", 3\n', "| a | b, c | d |\n| 1 | 2 | 3 |"],
  ["text after a quote", 'a,b\n"abc"def,1\n', "| a | b |\n| abcdef | 1 |"],
  ["separators at the end of each line", "a;b;\n1;2;\n3;4;\n", "| a | b |\n| 1 | 2 |\n| 3 | 4 |"],
])("no cell of a table is lost or moved by %s", async (_, csv, text) => {
  expect(await read(csv)).toBe(text);
});

test("a table of nothing but open quotes is read in linear time", async () => {
  expect((await read(`a,b\n${',"x\n'.repeat(50_000)}`)).length).toBeGreaterThan(100_000);
  expect((await read(`a,b\n"${'x"y"'.repeat(50_000)}`)).length).toBeGreaterThan(100_000);
});

test("a table of a million rows is read", async () => {
  expect(await read("a,b\n1,2\n".repeat(500_000))).toEndWith("| a | b |\n| 1 | 2 |");
});

test("a line of quotes within texts is read in linear time", async () => {
  expect((await read('"a"b, '.repeat(20_000))).length).toBeGreaterThan(80_000);
});
