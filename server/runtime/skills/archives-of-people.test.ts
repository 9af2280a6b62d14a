import { expect, test } from "bun:test";
import { skillText, type TestEntry, tarGzOf, tarOf, zipOf } from "../../testing/archives.ts";
import { readHead } from "./front-matter.ts";
import { describeSkillFault, readSkill } from "./read-skill.ts";

// Archives and front matter as people make them, with which other programs lost a skill in silence.

function read(archive: Uint8Array) {
  const files: string[] = [];
  const head = readSkill(archive, ({ path }) => files.push(path));
  return { head, files };
}

function faultOf(archive: Uint8Array): string {
  try {
    read(archive);
    return "none";
  } catch (error) {
    return describeSkillFault(error);
  }
}

const main: TestEntry = { path: "pdf/SKILL.md", content: skillText("pdf") };
const headOf = (text: string) => readHead(new TextEncoder().encode(text));
const descriptionOf = (field: string) => headOf(`---\nname: a\n${field}\nlicense: MIT\n---\n`).description;

test("a zip of PowerShell has backslashes between its folders, and is the same skill", () => {
  const entries = ["pdf\\SKILL.md", "pdf\\scripts\\fill.py", "pdf\\references\\"].map((path) => ({
    path,
    content: path.endsWith("SKILL.md") ? skillText("pdf") : "",
  }));
  expect(read(zipOf(entries)).files).toEqual(["SKILL.md", "scripts/fill.py"]);
  // At the root there is no folder at all.
  expect(
    read(
      zipOf([
        { path: "SKILL.md", content: skillText("pdf") },
        { path: "a\\b.txt", content: "" },
      ]),
    ).files,
  ).toEqual(["SKILL.md", "a/b.txt"]);
});

test("a zip with backslashes leads out of its folder no more than another", () => {
  const withPath = (path: string) =>
    zipOf([
      { ...main, path: "pdf\\SKILL.md" },
      { path, content: "x" },
    ]);
  expect(faultOf(withPath("pdf\\..\\..\\x"))).toContain("leads out of the folder");
  expect(faultOf(withPath("..\\x"))).toContain("leads out of the folder");
  expect(faultOf(withPath("\\x"))).toContain("has an absolute path");
  expect(faultOf(withPath("\\\\host\\share\\x"))).toContain("has an absolute path");
  expect(faultOf(withPath("C:\\x"))).toContain("drive letter");
  expect(faultOf(withPath("pdf\\aux.txt"))).toContain("Windows reserves");
  // Both kinds in one archive are no habit of any program.
  expect(faultOf(zipOf([main, { path: "pdf/a\\..\\..\\b", content: "x" }]))).toContain("backslash");
  expect(faultOf(tarOf([{ ...main, path: "pdf\\SKILL.md" }]))).not.toBe("none");
});

test.each(Object.entries({ zip: zipOf, "tar.gz": tarGzOf }))(
  "a %s has names beyond ASCII, also where it does not say that they are UTF-8",
  (_, pack) => {
    const entries = ["references/größe.md", "references/使い方.md", "assets/🎨.svg"].map((path) => ({
      path: `pdf/${path}`,
      content: "x",
    }));
    expect(read(pack([main, ...entries])).files).toEqual([
      "SKILL.md",
      "assets/🎨.svg",
      "references/größe.md",
      "references/使い方.md",
    ]);
  },
);

test("a zip of the Finder with its shadow files beside and in the folder is the skill alone", () => {
  const shadows = [
    "__MACOSX/._pdf",
    "__MACOSX/pdf/._SKILL.md",
    "__MACOSX/pdf/scripts/._a.py",
    "pdf/._SKILL.md",
    "._pdf",
  ];
  const folders = ["pdf/", "pdf/scripts/", "__MACOSX/", "__MACOSX/pdf/"];
  const entries = [...folders, ...shadows].map((path) => ({
    path,
    content: path.endsWith("/") ? "" : "\0\x05\x16\x07",
  }));
  expect(read(zipOf([...entries, main, { path: "pdf/scripts/a.py", content: "" }])).files).toEqual([
    "SKILL.md",
    "scripts/a.py",
  ]);
});

test.each(["", "pdf/"])("further SKILL.md below the one of %p are files of the skill", (folder) => {
  const paths = ["SKILL.md", "CA/AfterSale/SKILL.md", "US/SKILL.md", "examples/skill.md"];
  const entries = paths.map((path) => ({ path: `${folder}${path}`, content: skillText("pdf") }));
  expect(read(zipOf(entries)).files).toEqual(["CA/AfterSale/SKILL.md", "SKILL.md", "US/SKILL.md", "examples/skill.md"]);
});

test.each([
  ".gitignore",
  ".env.example",
  ".claude/settings.json",
  "scripts/.venv-marker",
  "LICENSE",
  "Makefile",
  "a b/c d.txt",
])("the file %s is a file like any other", (path) => {
  expect(read(zipOf([main, { path: `pdf/${path}`, content: "x" }])).files).toContain(path);
});

test("a download of a repository is told which folder to pack, or which name to give it", () => {
  const text = skillText("pdf");
  expect(faultOf(zipOf([{ path: "pdf-main/SKILL.md", content: text }]))).toContain(
    'Its name is "pdf", but its folder is "pdf-main"',
  );
  expect(faultOf(zipOf([{ path: "skills-main/skills/pdf/SKILL.md", content: text }]))).toContain(
    'has its SKILL.md at "skills-main/skills/pdf/SKILL.md". Pack this folder alone',
  );
});

test("a SKILL.md that a shell of Windows wrote as UTF-16 is refused, and told how to save it", () => {
  const text = skillText("pdf", "Größe.");
  const little = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]);
  const big = Buffer.from(little).swap16();
  for (const content of [little, big])
    expect(faultOf(zipOf([{ path: "pdf/SKILL.md", content }]))).toBe("SKILL.md is in UTF-16. Save it as UTF-8.");
});

test("front matter needs no blank line around it, and blank lines before it are no fault", () => {
  const plain = "---\nname: a\ndescription: b\n---\n";
  for (const text of [`\n${plain}`, `\n\n  \n${plain}`, `\ufeff\r\n${plain}`, `${plain}# Body`])
    expect([text, headOf(text).description]).toEqual([text, "b"]);
  expect(() => headOf(`<!-- License -->\n${plain}`)).toThrow("its first line has to be ---");
});

test.each<[string, string, string]>([
  ["a list in brackets first", "description: [Beta] Fills forms: all", "[Beta] Fills forms: all"],
  ["a quoted word first", `description: "Quick" fixes for forms`, `"Quick" fixes for forms`],
  ["bold words first", "description: **Use this** for forms", "**Use this** for forms"],
  ["an exclamation mark first", "description: !important for forms", "!important for forms"],
  ["braces first", "description: {{name}} is filled in", "{{name}} is filled in"],
  ["an ampersand first", "description: &c. and so on", "&c. and so on"],
  ["a percent sign first", "description: %d is filled in", "%d is filled in"],
  ["single quotes and an apostrophe", "description: 'Fill' the user's form", "'Fill' the user's form"],
  ["whole quotes", `description: "Fill: it"`, "Fill: it"],
  ["a question mark first", "description: ? What is it", "? What is it"],
  ["a dash first", "description: - fills forms", "- fills forms"],
  ["a folded text without a mark", "description: Fills\n  forms\n\n  well", "Fills forms well"],
  ["a folded text that keeps its end", "description: >+\n  one\n  two\n", "one two"],
  ["an indented literal text", "description: |2\n   one\n   two", "one two"],
  ["line ends of Windows in a literal text", "description: |\r\n  one: two\r\n  three\r", "one: two three"],
  ["tabs between words", "description: Fills\tforms", "Fills forms"],
  ["a no-break space", "description: Fills\u00a0forms", "Fills forms"],
])("a description with %s is read as its author meant it", (_, field, description) => {
  expect(descriptionOf(field)).toBe(description);
});

test("a description that goes on without an indent is refused with its line", () => {
  expect(() => descriptionOf("description: Fills forms\nand more of them")).toThrow(/is not valid YAML.*line [34]/);
});

test("names that are numbers or words of YAML stay texts", () => {
  for (const name of ["123", "true", "null", "1e3", "0x10", "2026-01-02", "no"])
    expect(headOf(`---\nname: ${name}\ndescription: b\n---\n`).name).toBe(name);
});
