import type { SandboxLevel } from "../../domain/api-types/enums.ts";
import type { Log } from "../../lib/log.ts";
import { jailFaults, selfTest } from "../../runtime/sandbox/self-test.ts";
import { CliError } from "../commands/exit-code.ts";
import type { SandboxFlag } from "./sandbox-flags.ts";

interface TestedSandbox {
  /** Resolves after the test, for which a start does not wait. */
  level(): Promise<SandboxLevel>;
  /** Null until the test is over. */
  known(): SandboxLevel | null;
  /**
   * Starts the test after a second, unless `level` did: on a single core its processes would delay the first requests.
   */
  test(): void;
}

const testAfter_ms = 1000;

/** Tests how well this machine can isolate foreign code. Throws for `strict` if it cannot fully. */
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
