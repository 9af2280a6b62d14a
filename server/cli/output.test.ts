import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";

const main = join(import.meta.dir, "../main.ts");

/** Runs a command of the shell, in which `"$@"` is the command line, and returns what stands on standard error. */
async function inShell(script: string, args: string[]): Promise<string> {
  const child = Bun.spawn(["sh", "-c", script, "sh", process.execPath, main, ...args], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const said = await child.stderr.text();
  await child.exited;
  return said;
}

// Its reader has gone before the command begins.
const unread = `trap "" PIPE; { while echo x; do :; done 2>/dev/null; "$@"; echo "ended with $?" >&2; } | true`;

test.each([["--help"], ["backup --help"], ["version"], ["docs nowhere/at-all --help"], ["doctor --data-dir /nowhere"]])(
  "where nobody reads it, `runnel %s` ends without a word, as other programs do",
  async (line) => {
    expect(await inShell(unread, line.split(" "))).toBe("ended with 141\n");
  },
);

test.skipIf(!existsSync("/dev/full"))("a command whose output finds no room says so, and has failed", async () => {
  expect(await inShell(`"$@" > /dev/full; echo "ended with $?" >&2`, ["version", "--json"])).toMatch(
    /^Standard output cannot be written: ENOSPC.*\nended with 1\n$/,
  );
});

test("a slow reader gets all of it", async () => {
  const source = `import { writeOut } from ${JSON.stringify(join(import.meta.dir, "output.ts"))}; writeOut("x".repeat(3e6));`;
  const child = Bun.spawn(["sh", "-c", `"$1" -e "$2" | wc -c`, "sh", process.execPath, source], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  expect(Number(await child.stdout.text())).toBe(3e6);
});
