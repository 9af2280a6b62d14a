import { describe, expect, test } from "bun:test";
import { parse } from "./parse.ts";

const sectionsOf = async (content: string, type: string, options = {}) => {
  const { sections, report } = await parse(Buffer.from(content), type, options);
  return {
    all: sections.map(({ text }) => text).join("\n\n"),
    sections,
    codes: report.warnings.map(({ code }) => code),
  };
};
const html = async (page: string) => (await sectionsOf(page, "text/html")).all;
const rtf = async (content: string) =>
  (await parse(Buffer.from(content, "latin1"), "application/rtf")).sections.map(({ text }) => text).join("\n\n");

describe("text of a page has no escapes", () => {
  test.each([
    ["max_tokens, *args, 2*3*4, [x], `tick`, ~home~, C:\\temp, \\(y\\), $x_1$"],
    ["# no heading"],
    ["1. no list"],
    ["1) no list"],
    ["2026. A year"],
    ["- no list"],
    ["+ no list"],
    ["---"],
    ["```"],
    ["5 * 3 _ 4 | 2"],
  ])("%s", async (text) => {
    expect(await html(`<p>${text}</p><p>After</p>`)).toBe(`${text}\n\nAfter`);
  });

  test("in headings, links, images, lists, quotes and emphasis, whose own signs stay", async () => {
    expect(await html("<h1>a_b *c*</h1><ul><li>d_e</ul><blockquote>f_g</blockquote><b>h_i</b>")).toBe(
      "# a_b *c*\n\n- d_e\n\n> f_g\n\n**h_i**",
    );
    expect(await html('<a href="https://x.test/a_b?c=d_e">f_g [1]</a> <img alt="h_i" src="x_y.png">')).toBe(
      "[f_g [1]](https://x.test/a_b?c=d_e) ![h_i](x_y.png)",
    );
  });

  test("but a bar within a table, which would end the cell", async () => {
    expect(await html("<table><tr><th>a_b<th>c|d<tr><td>1<br>2<td>x &lt;td&gt; <code>y|z</code></table>")).toBe(
      "| a_b | c\\|d |\n| --- | --- |\n| 1 2 | x <td> `y\\|z` |",
    );
  });

  test("and code is as it was", async () => {
    expect(await html("<code>x_y \\* a*b*c</code>")).toBe("`x_y \\* a*b*c`");
    expect(await html("<pre>if a_b:\n    # *c* \\n\n  &lt;x&gt;</pre>")).toBe(
      "```\nif a_b:\n    # *c* \\n\n  <x>\n```",
    );
  });

  test("a paragraph that begins like a heading is none", async () => {
    const { sections } = await sectionsOf("<h1>One</h1><p># two</p><p>text</p><p>===</p>", "text/html");
    expect(sections.map(({ heading, text }) => [heading, text])).toEqual([["One", "# One\n\n# two\n\ntext\n\n==="]]);
  });

  test("and words are whole if a part of them is emphasised", async () => {
    expect(await html("<p><b>T</b>he x<i>y</i>z <b>whole</b> <i>in</i>side")).toBe("The xyz **whole** inside");
  });

  test("character references are their characters", async () => {
    expect(await html("<p>&copy; &#x41; &hellip; &amp;amp; &lt;b&gt; &euro; &bogus;")).toBe(
      "© A … &amp; <b> € &bogus;",
    );
  });
});

test("a page keeps the words of definitions, nested tables, captions, fields and lines apart", async () => {
  expect(await html("<dl><dt>term</dt><dd>one</dd><dd>two</dd></dl>")).toBe("term\n\none\n\ntwo");
  const nested = await html("<table><tr><td>out<table><tr><td>a<td>b<tr><td>c</table><td>next</table>");
  expect(nested.match(/\w+/g)).toEqual(["out", "a", "b", "c", "next"]);
  expect(await html("<p>a<textarea>b</textarea>c<br>d")).toBe("a b c  \nd");
});

test("a page keeps the spaces around elements of any name", async () => {
  const tags = "a acronym bdi big custom-tag font h7 label nobr o:p output picture span tt u".split(" ");
  for (const tag of tags)
    for (const page of [
      `<p>one <${tag}><span>two</span></${tag}> three`,
      `<p>one <i></i><${tag}><i>two</i></${tag}> three`,
      `<p><${tag}>one</${tag}> <${tag}>two</${tag}> <${tag}>three</${tag}>`,
      `<p>one\n<${tag}>\n<b>two</b>\n</${tag}>\nthree`,
    ])
      expect([tag, (await html(page)).match(/\w+/g)]).toEqual([tag, ["one", "two", "three"]]);
});

test("a page has the text that stands in another place, and hidden text only if the upload wants it", async () => {
  const page = `<p style="position: absolute; top: 1px">placed</p><p hidden>one</p><div style="color:red;display:none">two<p>three</p></div>`;
  const without = await sectionsOf(page, "text/html");
  expect([without.all, without.codes]).toEqual(["placed", ["hidden_text_skipped"]]);
  const whole = await sectionsOf(page, "text/html", { includeHidden: true });
  expect([whole.all, whole.codes]).toEqual(["placed\n\none\n\ntwo\n\nthree", []]);
  const scripts = await sectionsOf("<p>seen<div hidden> <script>x</script></div>", "text/html");
  expect(scripts.codes).toEqual([]);
});

describe("Markdown", () => {
  const headings = async (text: string) =>
    (await sectionsOf(text, "text/markdown")).sections.map(({ heading, text }) => [heading, text]);

  test("has its front matter as text, and the title in it as heading", async () => {
    expect(await headings("---\ntitle: Boat rules\ntags: [keys]\n---\n\nThe key.\n\n## Oars\n\nTake two.")).toEqual([
      ["Boat rules", "# Boat rules\n\ntitle: Boat rules\ntags: [keys]\n\nThe key."],
      ["Boat rules › Oars", "## Oars\n\nTake two."],
    ]);
    expect(await headings("+++\ntitle = 'A'\n+++\n# B\n\nx")).toEqual([
      [null, "title = 'A'"],
      ["B", "# B\n\nx"],
    ]);
    expect(await headings("---\n\nOnly a line above")).toEqual([[null, "---\n\nOnly a line above"]]);
  });

  test("has titles with a line below, and no headings in fences, indented code and comments", async () => {
    expect(await headings("Boats\n=====\n\nx\n\nOars\n----\n\ny")).toEqual([
      ["Boats", "# Boats\n\nx"],
      ["Boats › Oars", "## Oars\n\ny"],
    ]);
    const text = "```sh\n# a\n```js\n# b\n```\n\n~~~\n# c\n~~~\n\n    # d\n\n<!--\n# e\n-->\n<!-- # f -->";
    expect(await headings(`${text}\n\n# G\n\nz`)).toEqual([
      [null, text],
      ["G", "# G\n\nz"],
    ]);
  });

  test("keeps its escapes, since they are its author's", async () => {
    expect((await sectionsOf("max\\_tokens", "text/markdown")).all).toBe("max\\_tokens");
  });
});

describe("RTF", () => {
  const raw = String.raw;

  test.each([
    ["a sign without replacement", raw`{\rtf1{\listtext\u8226 }First\par}`, "•First"],
    ["replacements of several letters", raw`{\rtf1\uc2\u8226\'95\'95abc {\uc1\u8226 ?}def\par}`, "•abc •def"],
    ["no replacement", raw`{\rtf1\uc0\u8226 abc\par}`, "•abc"],
    ["a control word in place of a replacement", raw`{\rtf1\u233\tab x\par}`, "é\tx"],
  ])("loses no letters after %s", async (_, content, text) => {
    expect(await rtf(content)).toBe(text);
  });

  test.each([
    [
      "letters whose second byte is ASCII",
      raw`{\rtf1{\fonttbl{\f0\fcharset128 M;}}\f0 \'83A\'83\\\'83\'7d\par}`,
      "アソマ",
    ],
    ["the default font", raw`{\rtf1\deff1{\fonttbl{\f0 A;}{\f1\fcharset204 B;}}\'cf\'f0\plain\'e8\par}`, "При"],
    ["its own code page", raw`{\rtf1\ansi\ansicpg1251\'cf\'f0\'e8\par}`, "При"],
    ["a Mac", raw`{\rtf1\mac caf\'8e\par}`, "café"],
    ["the Symbol font", raw`{\rtf1{\fonttbl{\f0 A;}{\f1\fcharset2 Symbol;}}x {\f1 a}\par}`, "x α"],
    ["a font of pictures", raw`{\rtf1{\fonttbl{\f0 A;}{\f1\fcharset2 Wingdings;}}{\f1\'a7}\tab x\par}`, "\tx"],
    ["both, in Unicode", raw`{\rtf1{\upr{ansi}{\*\ud{\u252 ?nicode}}}\par}`, "ünicode"],
  ])("reads letters in the encoding of %s", async (_, content, text) => {
    expect(await rtf(content)).toBe(text);
  });

  test("skips binary data, whatever it contains", async () => {
    expect(await rtf(raw`{\rtf1 a{\*\x\bin5 }}}}b}c\par}`)).toBe("ac");
  });

  test("is read in linear time, however its letters and deletions are cut", async () => {
    const pairs = `{\\rtf1{\\fonttbl{\\f0\\fcharset128 x;}}\\f0 ${"\\'81\\{".repeat(100_000)}}`;
    expect(await rtf(pairs)).toBe("＋".repeat(100_000));
    const deleted = `{\\rtf1 a{\\deleted ${"b\\'e9".repeat(100_000)}}c}`;
    const { all } = await sectionsOf(deleted, "application/rtf", { includeHidden: true });
    expect(all).toBe(`a~~${"bé".repeat(100_000)}~~c`);
  });

  test("has hidden and deleted text only if the upload wants it, and says that it was left out", async () => {
    const content = raw`{\rtf1 seen{\v  hidden}{\deleted  gone}\par}`;
    const without = await sectionsOf(content, "application/rtf");
    expect([without.all, without.codes]).toEqual(["seen", ["hidden_text_skipped", "hidden_text_skipped"]]);
    const whole = await sectionsOf(content, "application/rtf", { includeHidden: true });
    expect([whole.all, whole.codes]).toEqual(["seen hidden~~ gone~~", []]);
  });
});
