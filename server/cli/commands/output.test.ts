import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";

const main = join(import.meta.dir, "../../main.ts");

/** Runs a shell script in which `"$@"` is the command line. Returns its standard error. */
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

// The reader is gone before the command begins.
const unread = `trap "" PIPE; { while echo x; do :; done 2>/dev/null; "$@"; echo "ended with $?" >&2; } | true`;

test.each([["--help"], ["backup --help"], ["version"], ["docs nowhere/at-all --help"], ["doctor --data-dir /nowhere"]])(
  "`runnel %s` ends silently if its output is closed, as other programs do",
  async (line) => {
    expect(await inShell(unread, line.split(" "))).toBe("ended with 141\n");
  },
);

test.skipIf(!existsSync("/dev/full"))("a command that cannot write its output says so and fails", async () => {
  expect(await inShell(`"$@" > /dev/full; echo "ended with $?" >&2`, ["version", "--json"])).toMatch(
    /^Standard output cannot be written: ENOSPC.*\nended with 1\n$/,
  );
});

test("a slow reader gets the whole output", async () => {
  const source = `import { writeOut } from ${JSON.stringify(join(import.meta.dir, "output.ts"))}; writeOut("x".repeat(3e6));`;
  const child = Bun.spawn(["sh", "-c", `"$1" -e "$2" | wc -c`, "sh", process.execPath, source], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  expect(Number(await child.stdout.text())).toBe(3e6);
});
