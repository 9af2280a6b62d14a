import { expect, test } from "bun:test";
import { escapeTemplate, renderTemplate, tagsIn, tagsMax } from "./template.ts";

const render = (template: string, values: Record<string, string> = { a: "A", b: "B" }): string =>
  renderTemplate(template, ({ kind, name }) =>
    kind === "variable" && Object.hasOwn(values, name) ? values[name] : undefined,
  );

test.each([
  ["Dear {{a}},", "Dear A,"],
  ["{{ a }}{{b}}", "AB"],
  ["{{{a}}}", "{A}"],
  ["\\{{a}} and \\\\{{a}} and \\\\\\{{a}}", "{{a}} and \\A and \\{{a}}"],
  ["\\{{{a}}}", "{{{a}}}"],
  ["C:\\temp \\d {a} }} {{", "C:\\temp \\d {a} }} {{"],
  ["{{\na\n}}", "{{\na\n}}"],
  ['{"x": {"y": 1}}', '{"x": {"y": 1}}'],
  ["{{constructor}} {{__proto__}} {{toString}} {{}} {{c}}", "{{constructor}} {{__proto__}} {{toString}} {{}} {{c}}"],
  ["{{> a}}", "{{> a}}"],
])("the template %j becomes %j", (template, text) => {
  expect(render(template)).toBe(text);
});

test("a value is never read as a template, nor as a pattern of a replacement", () => {
  expect(render("{{a}}{{b}}", { a: "{{b}}$&$1", b: "\\{{a}}" })).toBe("{{b}}$&$1\\{{a}}");
  expect(render("{{{{a}}}}", { a: "b", b: "no" })).toBe("{{b}}");
});

test("an escaped text becomes itself, whatever braces and backslashes it has", () => {
  let seed = 7;
  const random = (most: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * most);
  };
  for (let i = 0; i < 20_000; i++) {
    const text = Array.from({ length: random(12) }, () => ["{", "{", "}", "\\", "a", " ", ">", "\n"][random(8)]).join(
      "",
    );
    expect(render(escapeTemplate(text))).toBe(text);
    expect(tagsIn(escapeTemplate(text))).toEqual([]);
  }
});

test("tags have their kind, their name and their place", () => {
  expect(tagsIn("x {{ a }} {{> refund-policy }}{{>b}} \\\\{{c}} \\{{d}}")).toEqual([
    { kind: "variable", name: "a", at: 2 },
    { kind: "snippet", name: "refund-policy", at: 10 },
    { kind: "snippet", name: "b", at: 30 },
    { kind: "variable", name: "c", at: 37 },
  ]);
});

test("long rows of backslashes and braces are read once", () => {
  for (const text of ["\\".repeat(300_000), "{".repeat(300_000), "{{ ".repeat(100_000), "\\{{".repeat(100_000)])
    expect(tagsIn(text)).toEqual([]);
});

test("a text has a limited number of places, so that a prompt has a limited length", () => {
  const rendered = render("{{a}}".repeat(tagsMax + 10));
  expect(rendered).toBe(`${"A".repeat(tagsMax)}${"{{a}}".repeat(10)}`);
});
