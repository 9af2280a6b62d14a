import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { skillLimits } from "../../domain/skills.ts";
import { skillText, type TestEntry, tarGzOf, tarOf, zipOf } from "../../testing/archives.ts";
import { describeSkillFault, readSkill } from "./read-skill.ts";

function read(archive: Uint8Array) {
  const files: string[] = [];
  const head = readSkill(archive, ({ path, bytes }) => files.push(`${path} ${bytes.length}`));
  return { head, files };
}

function faultOf(archive: Uint8Array): string {
  try {
    read(archive);
    return "none";
  } catch (error) {
    expect((error as Error).constructor.name).toBe("SkillError");
    return describeSkillFault(error);
  }
}

const main = (name = "pdf"): TestEntry => ({ path: `${name}/SKILL.md`, content: skillText(name) });
const script: TestEntry = { path: "pdf/scripts/fill.py", content: "print(1)\n" };
const archives = { zip: zipOf, tar: tarOf, "tar.gz": tarGzOf };
const size = skillText("pdf").length;

for (const [format, pack] of Object.entries(archives))
  describe(`a ${format}`, () => {
    test("with one folder is a skill, and its files are those of the folder", () => {
      const { head, files } = read(pack([script, main()]));
      expect(head).toMatchObject({ name: "pdf", description: "Does things." });
      expect(files).toEqual([`SKILL.md ${size}`, "scripts/fill.py 9"]);
    });

    test("with the files at its root is the same skill", () => {
      const entries = [main(), script].map((entry) => ({ ...entry, path: `./${String(entry.path).slice(4)}` }));
      expect(read(pack(entries)).files).toEqual([`SKILL.md ${size}`, "scripts/fill.py 9"]);
    });

    test("is read without what systems and git put beside an author's files", () => {
      const junk = ["__MACOSX/pdf/._SKILL.md", ".DS_Store", "pdf/.DS_Store", "pdf/Thumbs.db", "pdf/.git/config"];
      const entries = [main(), ...junk.map((path) => ({ path, content: "x" }))];
      expect(read(pack(entries)).files).toEqual([`SKILL.md ${size}`]);
    });

    test("in it is a file like any other", () => {
      const nested = pack([{ path: "../../etc/passwd", content: "x" }]);
      expect(read(pack([main(), { path: "pdf/assets/a.zip", content: nested }])).files).toHaveLength(2);
    });

    test("that is cut anywhere is refused, and never half a skill", () => {
      const whole = pack([main(), script]);
      for (let length = 0; length < whole.length - (format === "zip" ? 0 : 1024); length += 7)
        expect([length, faultOf(whole.slice(0, length))]).not.toContain("none");
    });

    test.each<[string, string, string]>([
      ["leads out of its folder", "pdf/../../x", "leads out of the folder (..)"],
      ["begins outside of it", "../x", "leads out of the folder (..)"],
      ["is absolute", "/etc/passwd", "has an absolute path"],
      ["has a drive letter", "C:/x", "begins with a drive letter"],
      ["has a backslash", "pdf\\..\\x", "has a backslash"],
      ["has an empty folder", "pdf//x", "has an empty folder name"],
      ["has a line break", "pdf/a\nb", "has a control character"],
      ["is a device of Windows", "pdf/aux.txt", "has a name that Windows reserves"],
      ["is a device of Windows in a folder", "pdf/COM1/x", "has a name that Windows reserves"],
      ["ends with a dot", "pdf/a.", "ends with a dot or a blank"],
      ["is a stream of Windows", "pdf/a:b", "has a character in its name that Windows refuses"],
      ["is deep", `pdf/${"a/".repeat(20)}x`, "is in more than 16 folders"],
      ["differs from another by case", "pdf/skill.MD", 'differs from "pdf/SKILL.md" only by case'],
      ["is in a folder that differs by case", "PDF/x", "differs from"],
      ["differs from another by accents", "pdf/e\u0301", "only by case or accents"],
      ["is there twice", "pdf/SKILL.md", "is in it twice"],
      ["is a folder too", "pdf/a/b", "is a file and a folder"],
      ["is beside the skill's folder", "x.txt", "is beside the skill's folder"],
    ])("with a path that %s is refused with its path", (_, path, fault) => {
      const others = ["pdf/a", "pdf/\u00e9"].map((path) => ({ path, content: "x" }));
      const told = faultOf(pack([main(), ...others, { path, content: "x" }]));
      expect(told).toContain(fault);
      expect(told).toContain(JSON.stringify(path).slice(1, 6));
    });

    test.each<[string, string[], string]>([
      ["nothing", [], "has no files"],
      ["no SKILL.md", ["pdf/a.md"], "has no SKILL.md, neither at its root nor in one folder"],
      ["a name in small letters", ["pdf/skill.md"], "the name has to be in capital letters"],
      ["a skill that is deeper", ["repo/skills/pdf/SKILL.md", "repo/README.md"], 'at "repo/skills/pdf/SKILL.md"'],
      ["several skills", ["a/SKILL.md", "b/SKILL.md"], 'has several skills: "a/SKILL.md", "b/SKILL.md"'],
    ])("with %s is refused, and told what is there", (_, paths, fault) => {
      expect(faultOf(pack(paths.map((path) => ({ path, content: skillText("pdf") }))))).toContain(fault);
    });

    test("with too many files, or too long ones, is refused", () => {
      const many = Array.from({ length: skillLimits.files }, (_, i) => ({ path: `pdf/f${i}`, content: "x" }));
      expect(faultOf(pack([main(), ...many]))).toContain("more than 500 files");
      const folders = Array.from({ length: skillLimits.entries + 1 }, (_, i) => ({ path: `pdf/${i}/`, type: "5" }));
      expect(faultOf(pack([main(), ...folders]))).toContain("more than 5000 entries");
      const random = crypto.getRandomValues(new Uint8Array(65536));
      const long = Buffer.concat(Array(80).fill(random));
      expect(faultOf(pack([main(), { path: "pdf/a", content: Buffer.concat([long, random]) }]))).toContain(
        '"pdf/a" has more than 5242880 bytes',
      );
      const four = ["a", "b", "c", "d"].map((name) => ({ path: `pdf/${name}`, content: long }));
      expect(faultOf(pack([main(), ...four]))).toContain("unpacks to more than 16777216 bytes");
    });

    test("whose folder has another name than the skill is refused with both names", () => {
      const entry = { path: "my-pdf/SKILL.md", content: skillText("pdf") };
      expect(faultOf(pack([entry]))).toContain('Its name is "pdf", but its folder is "my-pdf"');
    });
  });

test("zips: links, devices, encrypted entries and wrong sizes are refused with their path", () => {
  const one = (entry: Partial<TestEntry>) => faultOf(zipOf([main(), { path: "pdf/x", content: "secret", ...entry }]));
  expect(one({ mode: 0o120777 })).toBe('"pdf/x" is a link.');
  expect(one({ mode: 0o020666 })).toBe('"pdf/x" is a device or a pipe.');
  expect(one({ mode: 0o010644 })).toBe('"pdf/x" is a device or a pipe.');
  expect(one({ isEncrypted: true })).toBe('"pdf/x" is encrypted.');
  expect(one({ stated: 2 })).toContain('"pdf/x" is damaged');
  expect(one({ stated: 9 })).toContain('"pdf/x" is damaged');
  expect(one({ crc: 7 })).toContain('"pdf/x" is damaged');
  expect(one({ path: Buffer.from([0x70, 0x64, 0x66, 0x2f, 0xff]) })).toContain("has a name that is not UTF-8");
  expect(one({ path: "pdf/a\0b" })).toContain("has a control character in its name");
  expect(one({ mode: 0o100755 })).toBe("none");
});

test("zips with sizes of their own (ZIP64) are read", () => {
  const zip = Buffer.from(zipOf([{ ...main(), mode: 0o100644 }]));
  const entry = zip.lastIndexOf("PK\x01\x02");
  const end = zip.lastIndexOf("PK\x05\x06");
  const content = zip.readUInt32LE(entry + 24);
  const head = Buffer.from(zip.subarray(entry, entry + 46));
  const name = zip.subarray(entry + 46, end);
  head.writeUInt32LE(0xffffffff, 24);
  head.writeUInt16LE(12, 30);
  const extra = Buffer.alloc(12);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(8, 2);
  extra.writeBigUInt64LE(BigInt(content), 4);
  const last = Buffer.from(zip.subarray(end));
  last.writeUInt32LE(46 + name.length + 12, 12);
  expect(read(Buffer.concat([zip.subarray(0, entry), head, name, extra, last])).files).toEqual([`SKILL.md ${size}`]);
});

test("archives that unpack to far more than they have are refused before they take memory", () => {
  const zeros = new Uint8Array(4 * 2 ** 20);
  const entries = ["a", "b", "c"].map((name) => ({ path: `pdf/${name}`, content: zeros }));
  expect(faultOf(zipOf([main(), ...entries]))).toBe("The archive unpacks to more than 200 times its size.");
  expect(faultOf(tarGzOf([main(), ...entries]))).toBe("The archive unpacks to more than 200 times its size.");
  const bomb = gzipSync(new Uint8Array(100 * 2 ** 20));
  expect(faultOf(bomb)).toBe("The archive unpacks to more than 16777216 bytes.");
  // The directory says little, and the content is much.
  const lying = [main(), { path: "pdf/a", content: zeros, stated: 10 }];
  expect(faultOf(zipOf(lying))).toContain('"pdf/a" is damaged');
});

test("tars: links, devices, pipes and unknown kinds are refused with their path", () => {
  const kinds = { "1": "is a hard link", "2": "is a link", "3": "is a device", "4": "is a device", "6": "is a pipe" };
  for (const [type, fault] of Object.entries({ ...kinds, S: "is a sparse file", Z: "is of a kind" }))
    expect(faultOf(tarOf([main(), { path: "pdf/x", type, target: "/etc/passwd" }]))).toContain(`"pdf/x" ${fault}`);
});

test("tars: names of more than 100 bytes are read in both forms, and cannot lead out either", () => {
  const path = `pdf/${"a".repeat(60)}/${"b".repeat(60)}`;
  const record = (path: string) => {
    const rest = ` path=${path}\n`;
    return `${rest.length + String(rest.length + 3).length}${rest}`;
  };
  const forms = (path: string) => [
    [{ path: "././@LongLink", type: "L", content: `${path}\0` }],
    [{ path: "PaxHeader", type: "x", content: record(path) }],
  ];
  for (const form of forms(path))
    expect(read(tarOf([main(), ...form, { path: "pdf/short", content: "x" }])).files).toContain(`${path.slice(4)} 1`);
  for (const form of forms("pdf/../../x"))
    expect(faultOf(tarOf([main(), ...form, { path: "pdf/short", content: "x" }]))).toContain("leads out of the folder");
  const global = {
    path: "pax_global_header",
    type: "g",
    content: "52 comment=0123456789012345678901234567890123456789\n",
  };
  expect(read(tarOf([global, main()])).files).toHaveLength(1);
});

test("other formats are refused by their name", () => {
  expect(faultOf(Buffer.from("7z\xbc\xaf\x27\x1c", "latin1"))).toContain("is a 7z file");
  expect(faultOf(Buffer.from("Rar!\x1a\x07", "latin1"))).toContain("is a RAR file");
  expect(faultOf(Buffer.from("---\nname: pdf\n---\n"))).toBe("The archive is neither a zip nor a tar nor a tar.gz.");
  expect(faultOf(new Uint8Array())).toBe("The archive is neither a zip nor a tar nor a tar.gz.");
  expect(faultOf(gzipSync("no tar"))).toBe("The archive is neither a zip nor a tar nor a tar.gz.");
});
