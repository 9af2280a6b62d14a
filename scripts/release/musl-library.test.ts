import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { inProject } from "../root.ts";
import { muslLibrary } from "./musl-library.ts";

const path = inProject("node_modules/sqlite-vec-linux-x64/vec0.so");

test.skipIf(process.platform !== "linux" || process.arch !== "x64")(
  "sqlite-vec's library for musl asks for no function that only glibc has, and is otherwise the same",
  () => {
    const [library, changed] = [readFileSync(path), muslLibrary(readFileSync(path))];
    expect(library.includes("_chk\0", 0, "latin1")).toBe(true);
    expect(changed.toString("latin1").match(/\0__(memcpy|fread)_chk\0/)).toBeNull();
    const differing = library.reduce((sum, byte, at) => sum + (byte === changed[at] ? 0 : 1), 0);
    expect(changed.length).toBe(library.length);
    expect(differing).toBeLessThanOrEqual("__memcpy_chk__fread_chk".length);
  },
);

test("a library that asks for other functions is refused", () => {
  expect(() => muslLibrary(Buffer.from("\0__memcpy_chk\0memset\0"))).toThrow("__fread_chk");
});
