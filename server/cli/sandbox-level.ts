import type { Log } from "../lib/log.ts";
import { jailFaults, selfTest } from "../sandbox/self-test.ts";
import type { SandboxLevel } from "../wire/names.ts";
import { CliError } from "./exit-code.ts";
import type { SandboxFlag } from "./sandbox-flags.ts";

interface TestedSandbox {
  /** Settles once the test is over; a start does not wait for it. */
  level(): Promise<SandboxLevel>;
  /** Null while it is being tested. */
  known(): SandboxLevel | null;
  /** Tests a second later, unless somebody asks before: on one core the first requests would wait for its processes. */
  test(): void;
}

const testAfter_ms = 1000;

/** How far this machine can hold code that is not ours. Throws for `strict` where it cannot. */
export async function openSandbox(flag: SandboxFlag, log: Log): Promise<TestedSandbox> {
  let known: SandboxLevel | null = flag === "off" ? "off" : null;
  let testing: Promise<SandboxLevel> | null = known && Promise.resolve(known);
  if (flag === "strict") {
    const faults = await jailFaults();
    if (faults.length > 0)
      throw new CliError(`--sandbox strict: this system cannot hold code. A program could ${faults.join(", ")}.`);
    known = "strict";
    testing = Promise.resolve(known);
  }
  const level = (): Promise<SandboxLevel> => {
    testing ??= selfTest().then((found) => {
      known = found;
      if (found !== "strict")
        log.warn("code runs without the full jail, and Python not at all", { sandbox_level: found });
      return found;
    });
    return testing;
  };
  return { level, known: () => known, test: () => void setTimeout(level, testAfter_ms).unref() };
}
