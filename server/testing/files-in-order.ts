import type { ProgramOutcome } from "../runtime/sandbox/program.ts";

// In UTF-16 units the last but one is before the last; in code points it is after it.
const names = ["b", "a", "z", "B", "ü", "\u{1f600}", "\uff5e"];
/** More files than a call may leave, named so that the last of them in order is written first. */
const many = Array.from({ length: 20 }, (_, index) => `f${String(19 - index).padStart(2, "0")}`);

const python = (written: readonly string[]): string =>
  `for name in ${JSON.stringify(written)}: open(name, "w", encoding="utf-8").write(name)`;

/** Runs Python programs that write files in another order than that of their names. Returns what they left, and what is right. */
export async function filesInOrder(run: (code: string) => Promise<ProgramOutcome>, importing = "") {
  const [few, most] = [await run(`${importing}\n${python(names)}`), await run(`${importing}\n${python(many)}`)];
  return {
    left: [few, most].map(({ error, files }) => [error, files.map(({ name }) => name)]),
    right: [
      [null, ["B", "a", "b", "z", "ü", "\u{1f600}", "\uff5e"]],
      [null, many.toReversed().slice(0, 16)],
    ],
  };
}
