import { expect, test } from "bun:test";
import { markdownToText } from "./markdown-to-text.ts";

test("a row shows Markdown's words without its marks", () => {
  expect(markdownToText("# Refund\n\nYour **order** is `4711`, see [the page](https://a.test).\n- one\n- *two*")).toBe(
    "Refund Your order is 4711, see the page. one two",
  );
  expect(markdownToText("1. First\n2) Second\n> said\n```js\nlet a = 1;\n```")).toBe("First Second said let a = 1;");
});

test("a table becomes its cells' text, and a horizontal rule is left out", () => {
  const table =
    "Both are **here**.\n\n| Item | Price |\n|:---|---:|\n| Mug | €49.80 |\n| Tea | €35.10 |\n\nThat is all.";
  expect(markdownToText(table)).toBe("Both are here. Item · Price, Mug · €49.80, Tea · €35.10 That is all.");
  expect(markdownToText("One\n\n---\n\n- [ ] two\n- [x] _three_")).toBe("One two three");
});

test("text that only resembles a mark stays", () => {
  for (const text of [
    "2 * 3 * 4",
    "snake_case_name",
    "a - b",
    "#4711",
    "f(x)[0]",
    '{"a": [1]}',
    "5 ** 2",
    "a | b",
    "|x| > 1",
    "--flag",
    "_id",
    "---",
    "```",
  ])
    expect(markdownToText(text)).toBe(text);
});

test("a long text is cut, never within a character", () => {
  expect(markdownToText("ab ".repeat(1000), 20)).toHaveLength(20);
  expect(markdownToText(`${"a".repeat(9)}😀`, 10)).not.toMatch(/[\ud800-\udbff]$/);
});
