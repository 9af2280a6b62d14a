import { expect, test } from "bun:test";
import { type Node, parseMarkdown } from "./markdown.ts";

/** Renders nodes as HTML, to compare them. */
const html = (nodes: Node[]): string =>
  nodes
    .map((node) => {
      if (typeof node === "string") return node.replaceAll("<", "&lt;");
      const { tag, href, start, children } = node;
      const more = `${href ? ` href="${href}"` : ""}${start !== undefined && start !== 1 ? ` start="${start}"` : ""}`;
      return `<${tag}${more}>${html(children)}</${tag}>`;
    })
    .join("");

test.each([
  ["Hello.", "<p>Hello.</p>"],
  ["One\ntwo\n\nthree", "<p>One\ntwo</p><p>three</p>"],
  ["# C# #", "<h1>C#</h1>"],
  ["# A\n### B #", "<h1>A</h1><h3>B</h3>"],
  ["a **b** *c* ~~d~~ `e*f*`", "<p>a <strong>b</strong> <em>c</em> <del>d</del> <code>e*f*</code></p>"],
  ["**a *b* c**", "<p><strong>a <em>b</em> c</strong></p>"],
  ["snake_case_name and 2 * 3 * 4", "<p>snake_case_name and 2 * 3 * 4</p>"],
  ["- a\n- b\n  - c\n- d", "<ul><li>a</li><li>b<ul><li>c</li></ul></li><li>d</li></ul>"],
  ["3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'],
  ["1. a\n\n2. b", "<ol><li>a</li><li>b</li></ol>"],
  ["```ts\nlet a = `<b>`;\n\n# no\n```\nend", "<pre><code>let a = `&lt;b>`;\n\n# no</code></pre><p>end</p>"],
  ["```\nstill being written", "<pre><code>still being written</code></pre>"],
  ["> a\n> - b", "<blockquote><p>a</p><ul><li>b</li></ul></blockquote>"],
  [
    "a | b\n--|--\n1 | **2**",
    "<table><thead><tr><th>a </th><th>b</th></tr></thead><tbody><tr><td>1</td><td><strong>2</strong></td></tr></tbody></table>".replace(
      "a ",
      "a",
    ),
  ],
  ["---", "<hr></hr>"],
  ["[site](https://example.com/a_(b))", '<p><a href="https://example.com/a_(b)">site</a></p>'],
  ["see https://example.com.", '<p>see <a href="https://example.com/">https://example.com</a>.</p>'],
  ["\\*no\\*", "<p>*no*</p>"],
])("%j", (text, shown) => {
  expect(html(parseMarkdown(text))).toBe(shown);
});

test("model output never becomes an element or an address of its own", () => {
  expect(html(parseMarkdown("<script>alert(1)</script><img src=x onerror=alert(1)>"))).toBe(
    "<p>&lt;script>alert(1)&lt;/script>&lt;img src=x onerror=alert(1)></p>",
  );
  for (const href of [
    "javascript:alert(1)",
    "data:text/html,x",
    "//evil",
    "/v1/runs",
    "https://bank.example@evil.example/",
  ])
    expect(html(parseMarkdown(`[a](${href})`))).toBe("<p>a</p>");
  expect(html(parseMarkdown("![tracker](https://evil.example/pixel.png)"))).toBe(
    '<p><a href="https://evil.example/pixel.png">tracker</a></p>',
  );
});

test("endlessly nested or very long text is parsed quickly", () => {
  const texts = [
    ">".repeat(5000),
    `${"- ".repeat(2000)}a`,
    "*".repeat(5000),
    "[".repeat(5000),
    "`".repeat(5000),
    "_a ".repeat(3000),
    `# ${"#".repeat(100_000)}x`,
    `a | b\n${" ".repeat(100_000)}x`,
    ...["`", "_", "*", "~", "**a `x` ", "`a ``b ", "[a](b ", "https://"].map(
      (text) => `a ${text.repeat(8000 / text.length - 1)}`,
    ),
  ];
  for (const text of texts) expect(JSON.stringify(parseMarkdown(text)).length).toBeGreaterThan(0);
  expect(html(parseMarkdown("**a** ".repeat(10_000)))).toStartWith("<p>**a** ");
});
