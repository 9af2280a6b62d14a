import type { Program, ProgramOutcome } from "../runtime/sandbox/program.ts";
import { type Hostile, toProgram } from "./hostile-javascript.ts";

/** Runs all programs, as many at a time as `run` allows, and returns the faults: results that must not occur. */
export async function hostileFaults(
  programs: readonly Hostile[],
  run: (program: Program) => Promise<ProgramOutcome>,
): Promise<string[]> {
  const faults = await Promise.all(
    programs.map(async (hostile) => {
      const program = toProgram(hostile);
      return faultOf(hostile, program, await run(program));
    }),
  );
  return faults.filter((fault) => fault !== null);
}

function faultOf({ name, expected }: Hostile, { timeout_ms }: Program, outcome: ProgramOutcome): string | null {
  const { result, error, duration_ms } = outcome;
  const said = `${name}: ${JSON.stringify(error ?? result).slice(0, 200)} after ${duration_ms} ms`;
  return isExpected(expected, outcome) && isBounded(outcome, timeout_ms) ? null : said;
}

function isExpected(expected: Hostile["expected"], { result, error }: ProgramOutcome): boolean {
  // A program that writes in the runtime's name may be believed if it is first: it affects only its own answer.
  if (expected === "any") return true;
  if (expected === "harmless") return error?.code !== "sandbox_failed";
  if (expected === "ended") return error?.code === "code_timeout" || error?.code === "code_out_of_memory";
  if ("error" in expected) return error?.code === expected.error;
  return error === null && Bun.deepEquals(result, expected.result);
}

/** True if the program stayed within its limits of output and time. */
function isBounded({ stdout, stderr, files, duration_ms, error }: ProgramOutcome, timeout_ms: number): boolean {
  const size = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const printed = Math.max(Buffer.byteLength(stdout), Buffer.byteLength(stderr));
  const message = error?.message.length ?? 0;
  // A machine may stall for seconds; a program without a limit never ends.
  const inTime = duration_ms < timeout_ms + 20_000;
  return size <= 8 * 2 ** 20 && files.length <= 16 && printed <= 65536 && message <= 4096 && inTime;
}
