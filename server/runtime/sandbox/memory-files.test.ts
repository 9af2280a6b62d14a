import { describe, expect, test } from "bun:test";
import { createMemoryFiles, errno, FileError, type Folder } from "./memory-files.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function errnoOf(act: () => unknown): number {
  try {
    act();
  } catch (error) {
    if (error instanceof FileError) return error.errno;
    throw error;
  }
  return 0;
}

function withFile(room = 1000) {
  const files = createMemoryFiles(room);
  files.layFolder("/folder");
  const file = files.open(files.root, "/folder/a", { create: true });
  if (file.kind !== "file") throw new Error("no file");
  return { files, file };
}

describe("files in memory", () => {
  test("`..` never leads above the root, and links are followed there", () => {
    const { files, file } = withFile();
    files.makeLink("../../../folder", files.root, "/link");
    expect(files.find(files.root, "../../../folder/a", true)).toBe(file);
    expect(files.find(files.root, "/link/a", true)).toBe(file);
    expect(files.find(files.root, "/folder/../../folder/./a", true)).toBe(file);
  });

  test("links in a circle, missing folders and files used as folders are errors of their own", () => {
    const { files } = withFile();
    files.makeLink("two", files.root, "/one");
    files.makeLink("one", files.root, "/two");
    const find = (path: string) => errnoOf(() => files.find(files.root, path, true));
    expect([find("/one"), find("/none/a"), find("/folder/a/b"), find("/folder/a/")]).toEqual([
      errno.loop,
      errno.missing,
      errno.notFolder,
      errno.notFolder,
    ]);
  });

  test("a program cannot write more than its room, in one file or in many, and gets room back by removing", () => {
    const { files, file } = withFile(10);
    files.write(file, bytes("12345678"), 0);
    expect(errnoOf(() => files.write(file, bytes("xxx"), 8))).toBe(errno.noSpace);
    expect(errnoOf(() => files.resize(file, 1e15))).toBe(errno.noSpace);
    expect(file.size).toBe(8);
    files.removeFile(files.root, "/folder/a");
    const other = files.open(files.root, "/folder/b", { create: true });
    if (other.kind === "file") files.write(other, bytes("1234567890"), 0);
    expect(other).toMatchObject({ size: 10 });
  });

  test("a program cannot create files without end, even empty ones", () => {
    const { files } = withFile();
    const create = () => {
      for (let at = 0; at < 60_000; at++) files.open(files.root, `/folder/${at}`, { create: true });
    };
    expect(errnoOf(create)).toBe(errno.noSpace);
  });

  test("bytes after the end are zeros, also where longer content was before", () => {
    const { files, file } = withFile();
    files.write(file, bytes("secret"), 0);
    files.resize(file, 1);
    files.write(file, bytes("x"), 4);
    expect([...file.buffer.subarray(0, file.size)]).toEqual([115, 0, 0, 0, 120]);
  });

  test("files of the host, their folders and lazily read ones cannot be changed, replaced or removed", () => {
    const { files } = withFile();
    files.layFile("/input/a", bytes("given"));
    files.layLazily("/library/numpy", () => ({ "core/x": bytes("code") }));
    files.fix("/input");
    const inner = files.find(files.root, "/library/numpy/core/x", true);
    const acts = [
      () => files.removeFile(files.root, "/input/a"),
      () => files.open(files.root, "/input/b", { create: true }),
      () => files.makeFolder(files.root, "/input/c"),
      () => files.rename(files.root, "/folder/a", files.root, "/input/a"),
      () => files.rename(files.root, "/input/a", files.root, "/folder/b"),
      () => files.removeFile(files.root, "/library/numpy/core/x"),
      () => inner.kind === "file" && files.write(inner, bytes("x"), 0),
    ];
    expect(acts.map(errnoOf)).toEqual(acts.map(() => errno.readOnly));
  });

  test("a lazily read folder is read once, and not before the program looks into it", () => {
    const files = createMemoryFiles(0);
    let reads = 0;
    files.layLazily("/library/numpy", () => {
      reads++;
      return { "a/b": bytes("x") };
    });
    expect([...files.layFolder("/library").entries.keys()]).toEqual(["numpy"]);
    expect(reads).toBe(0);
    const find = () => files.find(files.root, "/library/numpy/a/b", true);
    expect(find()).toBe(find());
    expect(reads).toBe(1);
  });

  test("a folder cannot be moved into itself, and a full one not be replaced or removed", () => {
    const { files } = withFile();
    files.makeFolder(files.root, "/folder/inner");
    files.makeFolder(files.root, "/empty");
    const rename = (from: string, to: string) => errnoOf(() => files.rename(files.root, from, files.root, to));
    expect([rename("/folder", "/folder/inner/x"), rename("/empty", "/folder"), rename("/empty", "/folder/a")]).toEqual([
      errno.invalid,
      errno.notEmpty,
      errno.notFolder,
    ]);
    expect(errnoOf(() => files.removeFolder(files.root, "/folder"))).toBe(errno.notEmpty);
    files.rename(files.root, "/folder/a", files.root, "/empty/b");
    expect([...(files.find(files.root, "/empty", true) as Folder).entries.keys()]).toEqual(["b"]);
  });
});
