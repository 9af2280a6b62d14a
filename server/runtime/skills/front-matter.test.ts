import { expect, test } from "bun:test";
import type { SkillHead } from "../../domain/skills.ts";
import { readHead } from "./front-matter.ts";

const read = (text: string) => readHead(new TextEncoder().encode(text));
const start = "---\nname: a\ndescription: b\n";
const plain: SkillHead = {
  name: "a",
  description: "b",
  license: null,
  compatibility: null,
  allowed_tools: [],
  metadata: {},
};

test.each<[string, string]>([
  ["as it is", `${start}---\nBody`],
  ["with a byte order mark", `\ufeff${start}---\nBody`],
  ["with line ends of Windows", `${start}---\nBody`.replaceAll("\n", "\r\n")],
  ["with line ends of old Macs", `${start}---\nBody`.replaceAll("\n", "\r")],
  ["at the end of the file", `${start}---`],
  ["with blanks after its marks", `--- \nname: a\ndescription: b\n---  \n`],
  ["with a comment", "---\n# one\nname: a # two\ndescription: b\n---\n"],
  ["with fields of other programs", `${start}version: 1\nargument-hint: "[x]"\nhooks:\n  - a: b\n---\n`],
  ["with a body that has marks", `${start}---\n\n---\nname: c\n---\n`],
])("front matter is read %s", (_, text) => {
  expect(read(text)).toEqual(plain);
});

test("all fields are read, and values that are no texts stay as they are written", () => {
  const more = `license: Apache-2.0\ncompatibility: Needs git\nallowed-tools: Bash(git add *), Read  Write
metadata:\n  version: 1.10\n  released: 2026-01-02\n  on: yes\n  tags: [x, y]\n`;
  expect(read(`${start}${more}---\n`)).toEqual({
    ...plain,
    license: "Apache-2.0",
    compatibility: "Needs git",
    allowed_tools: ["Bash(git add *)", "Read", "Write"],
    metadata: { version: "1.10", released: "2026-01-02", on: "yes", tags: '["x","y"]' },
  });
  expect(read(`${start}allowed-tools:\n  - Read\n  - Bash(npm run *)\n---\n`).allowed_tools).toEqual([
    "Read",
    "Bash(npm run *)",
  ]);
});

test.each<[string, string, string]>([
  ["a colon", "description: Use when: asked", "Use when: asked"],
  ["a colon in a further line", "description: Fills forms\n  and more: all of it", "Fills forms and more: all of it"],
  ["a colon in the line below", "description:\n  Use when: asked", "Use when: asked"],
  ["quotes and a colon", `description: Says "no": always`, `Says "no": always`],
  ["a sign that YAML reserves", "description: @Observable and `code`", "@Observable and `code`"],
  ["a folded text", "description: >-\n  one: two\n  three", "one: two three"],
  ["a literal text", "description: |\n  one\n\n  two\n", "one two"],
])("a description with %s is read as its author meant it", (_, field, description) => {
  expect(read(`---\nname: a\n${field}\nlicense: MIT\n---\n`)).toEqual({ ...plain, description, license: "MIT" });
});

test.each<[string, string, string]>([
  ["without front matter", "# Hello\n", "has no front matter"],
  ["in an empty file", "", "has no front matter"],
  ["without its end", start, "has no end"],
  ["that is empty", "---\n---\n", "has no fields"],
  ["that is a list", "---\n- a\n---\n", "has no fields"],
  ["without a name", "---\ndescription: b\n---\n", "has no name"],
  ["without a description", "---\nname: a\n---\n", "has no description"],
  ["with an empty description", "---\nname: a\ndescription:\n---\n", "has no description"],
  ["with a list for its name", "---\nname: [a]\ndescription: b\n---\n", "has no text as its name"],
  ["with a field twice", `${start}name: c\n---\n`, "a field is in it twice (line 4)"],
  ["with an anchor", `${start}x: &a 1\n---\n`, "has anchors or aliases"],
  ["with an alias", `${start}x: &a 1\ny: *a\n---\n`, "has anchors or aliases"],
  ["that grows by aliases", `${start}a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n---\n`, "has anchors or aliases"],
  ["with a tag", `${start}x: !ruby/object:Gem {}\n---\n`, "has a tag"],
  ["that is long", `${start}x: "${"y".repeat(17_000)}"\n---\n`, "is longer than 16384 bytes"],
  ["that nests deep", `${start}x: ${"[".repeat(9000)}\n---\n`, "is not valid YAML"],
  ["with a tab", "---\nname: a\n\tdescription: b\n---\n", "has no description"],
  ["with a quote that has no end", `${start}x: "y\n---\n`, "is not valid YAML"],
  ["with metadata that is a text", `${start}metadata: x\n---\n`, "has metadata that is no map"],
])("front matter %s is refused with a clear word", (_, text, fault) => {
  expect(() => read(text)).toThrow(fault);
});

test.each(["A", "my skill", "my_skill", "-a", "a-", "a--b", "ä", "../a", "a/b", "a".repeat(65), "con:"])(
  "%s is not a name",
  (name) => {
    expect(() => read(`---\nname: ${JSON.stringify(name)}\ndescription: b\n---\n`)).toThrow("is not valid");
  },
);

test("a description has at most 1,024 characters", () => {
  const of = (length: number) => read(`---\nname: a\ndescription: ${"x".repeat(length)}\n---\n`);
  expect(of(1024).description).toHaveLength(1024);
  expect(() => of(1025)).toThrow("Its description has 1025 characters; at most 1024 are allowed.");
});

test("bytes that are no text in UTF-8 are refused", () => {
  expect(() => readHead(Buffer.from("---\nname: a\ndescription: \xff\n---\n", "latin1"))).toThrow(
    "not a text in UTF-8",
  );
});
