import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { skillText } from "../../testing/archives.ts";
import { readFolder } from "./read-files.ts";

const agent = "object: agent\nname: a\ninstructions: b\n";

class Folder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "runnel-find-"));
  constructor(files: Record<string, string | Uint8Array>) {
    for (const [name, content] of Object.entries(files)) this.write(name, content);
  }
  write(name: string, content: string | Uint8Array): void {
    mkdirSync(dirname(join(this.path, name)), { recursive: true });
    writeFileSync(join(this.path, name), content);
  }
  link(name: string, target: string): void {
    mkdirSync(dirname(join(this.path, name)), { recursive: true });
    symlinkSync(target, join(this.path, name));
  }
  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true });
  }
}

const read = ({ path }: Folder) => readFolder(path).map(({ kind, name, path }) => `${kind} ${name} ${path}`);

test("a link to a file of the folder is read, as a mounted ConfigMap has them", () => {
  using folder = new Folder({ "..2026/agent.yaml": agent });
  folder.link("..data", "..2026");
  folder.link("agent.yaml", "..data/agent.yaml");
  expect(read(folder)).toEqual(["agent a agent.yaml"]);
});

test("a link that leads out of the folder, or nowhere, is refused", () => {
  using outside = new Folder({ "secret.yaml": agent });
  for (const [name, target, fault] of [
    ["more", outside.path, "more: The link leads out of the folder."],
    ["a.yaml", join(outside.path, "secret.yaml"), "a.yaml: The link leads out of the folder."],
    ["sub/a.yaml", "../../nothing", "a.yaml: The link leads nowhere."],
  ] as const) {
    using folder = new Folder({ "b.yaml": agent });
    folder.link(name, target);
    expect(() => read(folder)).toThrow(fault);
  }
});

test("a link that stays in the folder makes no endless search, and no thing twice", () => {
  using folder = new Folder({ "sub/a.yaml": agent });
  folder.link("sub/up", "..");
  folder.link("again", "sub");
  folder.link("readme", "/etc/passwd");
  expect(read(folder)).toEqual(["agent a sub/a.yaml"]);
});

test("a folder with SKILL.md is a skill, and no file in it is anything else", () => {
  using folder = new Folder({
    "skills/letters/SKILL.md": skillText("letters"),
    "skills/letters/agent.yaml": agent,
    "skills/letters/inner/SKILL.md": skillText("inner"),
    "agent.yaml": agent,
  });
  expect(read(folder)).toEqual(["agent a agent.yaml", "skill letters skills/letters"]);
});

test.each<[string, Record<string, string | Uint8Array>, string]>([
  ["is the folder itself", { "SKILL.md": skillText("letters") }, "SKILL.md: A skill is a folder of its own"],
  ["has its name in small letters", { "s/skill.md": skillText("s") }, "s/skill.md: The name has to be SKILL.md"],
  ["has another name than its folder", { "s/SKILL.md": skillText("t") }, 's: Its name is "t", but its folder is "s".'],
  ["has no front matter", { "s/SKILL.md": "Hello" }, "s: SKILL.md has no front matter"],
  [
    "has aliases in its front matter",
    { "s/SKILL.md": "---\nname: s\ndescription: Letters.\nx: &a 1\ny: *a\n---\n" },
    "anchors or aliases",
  ],
  ["is not UTF-8", { "s/SKILL.md": new Uint8Array([0x2d, 0xff, 0xfe]) }, "s: SKILL.md is not a text in UTF-8."],
  ["has a long file", { "s/SKILL.md": skillText("s"), "s/a": new Uint8Array(6 * 2 ** 20) }, 's: "a" has more than'],
  [
    "has files that are one on other systems",
    { "s/SKILL.md": skillText("s"), "s/a": "1", "s/A": "2" },
    "only by case or accents",
  ],
  ["has a name that Windows refuses", { "s/SKILL.md": skillText("s"), "s/why?": "1" }, "Windows refuses"],
  [
    "has too many files",
    { "s/SKILL.md": skillText("s"), ...Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`s/${i}`, ""])) },
    "s: It has more than 500 files.",
  ],
])("a skill that %s is refused", (_, files, fault) => {
  using folder = new Folder(files);
  expect(() => read(folder)).toThrow(fault);
});

test("a skill with a link in it is refused, wherever that leads", () => {
  for (const target of ["SKILL.md", "/etc/passwd", "nothing", ".."]) {
    using folder = new Folder({ "s/SKILL.md": skillText("s") });
    folder.link("s/deep/link", target);
    expect(() => read(folder)).toThrow('s: "deep/link" is a link.');
  }
  using folder = new Folder({ "real.md": skillText("s") });
  folder.link("s/SKILL.md", "../real.md");
  expect(() => read(folder)).toThrow('s: "SKILL.md" is a link.');
});

test.each<[string, string | Uint8Array, string]>([
  ["longer than 4 MB", `object: snippet\nname: a\ntext: ${"x".repeat(10 * 2 ** 20)}\n`, "more than 4194304 bytes"],
  ["in UTF-16, as some shells write it", Buffer.from(`\ufeff${agent}`, "utf16le"), "The file is not a text in UTF-8."],
  ["in Latin-1", Buffer.from("object: agent\nname: ä\n", "latin1"), "The file is not a text in UTF-8."],
  ["nested too deep", `object: agent\nname: a\nx: ${"[".repeat(20_000)}`, "a.yaml: The file nests too deep."],
])("a file that is %s is refused with its path", (_, content, fault) => {
  using folder = new Folder({ "a.yaml": content });
  expect(() => read(folder)).toThrow("a.yaml: ");
  expect(() => read(folder)).toThrow(fault);
});

test("line ends of Windows and a byte order mark change nothing", () => {
  const text = "object: snippet\nname: a\ntext: |\n  one\n\n  two\n";
  const markdown = "---\nobject: snippet\nname: b\n---\n\none\n\ntwo\n";
  const folders = [
    new Folder({ "a.yaml": text, "b.md": markdown }),
    new Folder({ "a.yaml": `\ufeff${text}`, "b.md": `\ufeff${markdown}` }),
    new Folder({ "a.yaml": text.replaceAll("\n", "\r\n"), "b.md": markdown.replaceAll("\n", "\r\n") }),
  ];
  const [plain, ...others] = folders.map(({ path }) => readFolder(path));
  expect(plain?.map(({ fields }) => fields.text)).toEqual(["one\n\ntwo\n", "one\n\ntwo"]);
  for (const other of others) expect(other).toEqual(plain!);
  for (const folder of folders) folder[Symbol.dispose]();
});
