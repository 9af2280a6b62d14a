import { describe, expect, test } from "bun:test";
import { renderToStaticMarkup } from "react-dom/server";
import { isSafeMarkdown } from "./markdown.tsx";
import { linkTarget, MarkdownView } from "./markdown-view.tsx";

const html = (text: string) => renderToStaticMarkup(<MarkdownView text={text} />);

/** Milliseconds of CPU time, independent of other load on the machine. */
function stopwatch(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
}

describe("model output", () => {
  test("is rendered as Markdown", () => {
    const shown = html(
      "# Plan\n\n1. **one**\n2. `two`\n\n- [x] done\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```ts\nlet x;\n```",
    );
    for (const part of ["<strong", "<ol", "<code", "<table", "text-align:right", "Done: ", "<pre", "let x;"])
      expect(shown).toContain(part);
    expect(shown).not.toMatch(/<h[1-6]|<input/);
  });

  test("never becomes HTML", () => {
    const hostile = [
      "<script>alert(1)</script>",
      '<img src=x onerror="alert(1)">',
      "<iframe srcdoc='<script>1</script>'></iframe>",
      "text <b onclick=alert(1)>bold</b>",
      "<style>*{display:none}</style>",
      "<!-- <script> -->",
      "<svg/onload=alert(1)>",
      "`<script>`\n\n```html\n<script>alert(1)</script>\n```",
    ];
    for (const text of hostile) {
      const shown = html(text);
      expect(shown).not.toMatch(/<(script|img|iframe|b|style|svg\/|object|form)[\s>]/i);
      expect(shown).toContain("&lt;");
    }
  });

  test("links only to the web, in another tab, and shows the host", () => {
    const shown = html("[your bank](https://evil.example/login) and <https://a.example/x> and [m](mailto:a@b.example)");
    expect(shown).toContain('href="https://evil.example/login"');
    expect(shown).toContain("(evil.example)");
    expect(shown).toContain('target="_blank"');
    expect(shown.match(/rel="noopener noreferrer"/g)).toHaveLength(3);
    expect(shown).not.toContain("(a.example)");
    for (const target of [
      "javascript:alert(1)",
      "JaVaScRiPt:alert(1)",
      "java&#x0A;script:alert(1)",
      "&#106;avascript:alert(1)",
      "data:text/html,<script>1</script>",
      "vbscript:x",
      "file:///etc/passwd",
      "blob:https://a.example/1",
      "/dashboard/settings",
      "#main",
      "//evil.example",
    ])
      expect([target, html(`[go](${target}) [r][1]\n\n[1]: ${target}`)]).toEqual([
        target,
        expect.not.stringContaining("href"),
      ]);
  });

  test("loads no image and shows its host", () => {
    const shown = html("![a cat](https://spy.example/p.png?who=me) ![](data:image/png;base64,AAAA) ![x](javascript:1)");
    expect(shown).not.toContain("<img");
    expect(shown).not.toContain("src=");
    expect(shown).toContain("a cat");
    expect(shown).toContain("from spy.example");
  });

  test("gets no ids, classes or styles", () => {
    const shown = html("# main\n\nA note.[^1]\n\n[^1]: Its text.\n\n```main-class\n1\n```");
    expect(shown).not.toMatch(/\sid=|main-class|user-content/);
  });

  test("nested a thousand levels deep costs no more than its text", () => {
    const took = stopwatch();
    for (const text of [
      `${"> ".repeat(1000)}deep`,
      `${">".repeat(100)} deep`,
      Array.from({ length: 100 }, (_, depth) => `${"  ".repeat(depth)}- item`).join("\n"),
      `${"**a *b ".repeat(600)}`,
      `${"[".repeat(1500)}x${"](https://a.example)".repeat(200)}`,
    ]) {
      if (!isSafeMarkdown(text)) continue;
      const shown = html(text);
      expect(shown.match(/<(blockquote|ul|em|strong)/g)?.length ?? 0).toBeLessThan(1300);
    }
    expect(took()).toBeLessThan(4000);
    expect(isSafeMarkdown(`${"> ".repeat(1000)}deep`)).toBe(false);
    expect(html(`${"> ".repeat(50)}deep`).match(/<blockquote/g)).toHaveLength(12);
  });

  test("that is huge stays plain text", () => {
    const row = `|${" x |".repeat(200)}`;
    expect(isSafeMarkdown([row, row.replaceAll("x", "-"), ...Array(200).fill(row)].join("\n"))).toBe(false);
    for (const text of ["a".repeat(40_001), "[".repeat(50_000), "*a ".repeat(9000), "`".repeat(20_000)])
      expect(isSafeMarkdown(text)).toBe(false);
    expect(isSafeMarkdown("A usual answer with **some** [marks](https://a.example).\n".repeat(200))).toBe(true);
  });
});

describe("the most expensive text that counts as safe", () => {
  test.each([
    ["emphasis", "*a **b _c ".repeat(1200)],
    ["brackets", "[a](".repeat(1500)],
    ["open brackets", "![".repeat(3000)],
    ["ticks", "`a ``b ".repeat(1600)],
    ["tags", "<a ".repeat(5000)],
    ["a table", `| a | b |\n|---|---|\n${"| 1 | 2 |\n".repeat(990)}`],
    ["lists", "- a\n  - b\n".repeat(600)],
    ["quotes", "> a\n>> b\n".repeat(600)],
    ["addresses", "www.a.example ".repeat(600)],
    ["entities", "&amp;&#x3c;".repeat(3600)],
  ])("%s renders within two seconds", (_, text) => {
    expect(isSafeMarkdown(text)).toBe(true);
    const took = stopwatch();
    html(text);
    expect(took()).toBeLessThan(2000);
  });
});

test("a link shows the host that a browser would contact, not the text before an @", () => {
  expect(linkTarget("https://bank.example@evil.example/x")).toEqual({
    href: "https://evil.example/x",
    host: "evil.example",
  });
  expect(linkTarget("https://bücher.example")?.host).toBe("xn--bcher-kva.example");
  expect(linkTarget("")).toBeNull();
});
