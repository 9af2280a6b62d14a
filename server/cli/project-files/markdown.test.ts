import { expect, test } from "bun:test";
import fc from "fast-check";
import { parse } from "yaml";
import { readMarkdown, writeMarkdown } from "./markdown.ts";
import { writeYaml } from "./write-yaml.ts";

const head = { object: "snippet", name: "a", description: "Yes: no" };

/** Texts with characters that YAML does not have as they are, or reads as line ends. */
const strange = fc
  .array(fc.constantFrom("a", "~", "0o14", "\r\n", "\r", "\u0000", "\u0085", "\u2028", "\ufeff", "\ud83d\ude00"))
  .map((parts) => parts.join(""));

/** Texts with what YAML and Markdown read in a special way. */
const text = fc
  .array(
    fc.constantFrom(" ", "  ", "\t", "\n", "\n\n", "---", "- ", "#", ":", "'", '"', "|", "no", "1e3", "ü", "{{x}}"),
  )
  .map((parts) => parts.join(""));

test("a snippet that is written as Markdown is read as the same text, with every blank and line end", () => {
  fc.assert(
    fc.property(text, (value) => {
      const read = readMarkdown(writeMarkdown(head, value));
      expect(read?.text).toBe(value);
      expect(parse(read?.head ?? "")).toEqual(head);
    }),
  );
});

test("a text that is written as YAML is read as the same text, also one that looks like another type", () => {
  fc.assert(
    fc.property(fc.oneof(text, strange), (value) => {
      expect(parse(writeYaml({ text: value, list: [{ value }] }))).toEqual({
        text: value,
        list: [{ value }],
      });
    }),
    { numRuns: 50 },
  );
});

test.each([" \n", "\n \n", "  \n\n a", " \na\n", "\n  \na", " "])(
  "a text that begins with blanks is read as the same text: %j",
  (value) => {
    expect(parse(writeYaml({ text: value, list: [{ value }] }))).toEqual({ text: value, list: [{ value }] });
  },
);

test.each([
  ["without front matter", "# Read me\n"],
  ["of another program", "---\ntitle: Read me\n---\n\nobject: snippet\n"],
  ["whose front matter has no end", "---\nobject: snippet\nname: a\n"],
])("a Markdown file %s is left alone", (_, content) => {
  expect(readMarkdown(content)).toBeNull();
});

test("a line of --- in the text belongs to the text", () => {
  expect(readMarkdown("---\nobject: snippet\n---\na\n---\nb\n")?.text).toBe("a\n---\nb");
});
