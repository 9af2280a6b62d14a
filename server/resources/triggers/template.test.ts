import { describe, expect, test } from "bun:test";
import { limits } from "../../domain/limits.ts";
import { parseExact } from "../../lib/exact-numbers.ts";
import { parseEventPath, valueAt } from "./event-path.ts";
import { unmetCondition } from "./filter.ts";
import { parseTemplate, renderTemplate } from "./template.ts";

const event = {
  body: {
    issue: { title: "It {{body.secret}} breaks", number: 7, body: null, labels: [{ name: "bug" }], draft: false },
    secret: "s3cret",
    "body-plain": "Hello",
    "a.b": "dots",
    big: parseExact("12345678901234567890"),
    list: ["x", "y"],
  },
  headers: { "x-github-event": "issues" },
};
const render = (template: string) => renderTemplate(template, event).text;

test("a template has the values of an event", () => {
  expect(render("#{{body.issue.number}} {{ body.issue.labels[0].name }} ({{headers.X-GitHub-Event}})")).toBe(
    "#7 bug (issues)",
  );
  expect(render('{{body["a.b"]}} {{body.body-plain}} {{body.list}} {{body.big}} {{body.issue.draft}}')).toBe(
    'dots Hello ["x","y"] 12345678901234567890 false',
  );
});

test("values are data: braces in them mean nothing", () => {
  expect(render("{{body.issue.title}}")).toBe("It {{body.secret}} breaks");
});

test("a missing value is empty and named, and null is empty", () => {
  expect(renderTemplate("[{{body.no.such}}{{body.issue.body}}]", event)).toEqual({
    text: "[]",
    missing: ["body.no.such"],
  });
});

test("only own properties and items of lists are values", () => {
  for (const path of [
    "body.constructor",
    "body.__proto__",
    "body.constructor.name",
    "body.list.length",
    "body.list.map",
    "body.secret.length",
    "body.secret[0]",
    "body.toString",
    'body["__proto__"]',
    "headers.constructor",
    "headers.__proto__",
  ])
    expect([path, render(`{{${path}}}`)]).toEqual([path, ""]);
});

test("a long value is shortened, so that it leaves room for the others", () => {
  const { text } = renderTemplate("{{body}}!", { body: "x".repeat(1_000_000), headers: {} });
  expect(text.length).toBeLessThan(70_000);
  expect(text).toEndWith("x!");
});

describe("a template that names nothing", () => {
  test.each([
    "{{constructor}}",
    "{{__proto__}}",
    "{{}}",
    "{{ body",
    "{{body.}}",
    "{{body..a}}",
    "{{body.a b}}",
    "{{headers}}",
  ])("such as %s is refused", (template) => expect(parseTemplate(template)).toHaveProperty("wrong"));

  test("is no place either if it is too long or too deep", () => {
    expect(parseEventPath(`body${".a".repeat(21)}`)).toBeNull();
    expect(parseEventPath(`body.${"a".repeat(300)}`)).toBeNull();
    expect(valueAt(event, parseEventPath("body")!)).toBe(event.body);
  });
});

test("a filter compares texts, so that it works for JSON, forms and headers", () => {
  const met = (condition: object) => unmetCondition([{ path: "body", ...condition }], event) === null;
  expect(met({ path: "headers.x-github-event", in: ["issues", "push"] })).toBe(true);
  expect(met({ path: "body.issue.number", in: ["7"] })).toBe(true);
  expect(met({ path: "body.issue.draft", in: [false] })).toBe(true);
  expect(met({ path: "body.issue.number", in: [8] })).toBe(false);
  expect(met({ path: "body.issue.number", not_in: [8] })).toBe(true);
  expect(met({ path: "body.none", in: ["x"] })).toBe(false);
  expect(met({ path: "body.none", not_in: ["x"] })).toBe(true);
  expect(met({ path: "body.issue", in: ["[object Object]"] })).toBe(false);
});

test("a template that names a long value thousands of times takes no more than a run's input", () => {
  const template = "{{body.a}}".repeat(5000);
  const { text } = renderTemplate(template, { body: { a: { b: "x".repeat(900_000) } }, headers: {} });
  expect(text.length).toBeLessThan(limits.input_bytes * 2);
});
