/// <reference path="./python-modules.d.ts" />

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxLevel } from "../../domain/api-types/enums.ts";
import { platform } from "../../lib/platform.ts";
import { spawnWithRetry } from "../../lib/spawn-with-retry.ts";
import { startChild } from "./child-process.ts";
import { type Canary, canaryFile } from "./probes.ts";
import type { ProgramOutcome } from "./program.ts";
import { programTask } from "./program-task.ts";
import systemProbes from "./system-probes.py" with { type: "text" };
import type { SystemPython } from "./system-python.ts";

const timeout_ms = 15_000;
/** Time for a native interpreter to start, on a busy machine. */
const load_ms = 30_000;
/** Attempts: a process that ends without an answer has proven nothing, so another one is started. */
const tries = 3;
/** More memory than the jail allows a child, in MB. */
const muchMemory_mb = 2048;

/** Tests the jail of this system: `strict` if it held against every attack. Never throws. */
export async function selfTest(): Promise<SandboxLevel> {
  return (await jailFaults()).length === 0 ? "strict" : "process";
}

/** Returns the forbidden actions that a child can perform, or the reason why there is no jail. */
export async function jailFaults({ jailed = true, start = startChild } = {}): Promise<string[]> {
  if (!platform.jail) return [`${process.platform} has no jail`];
  try {
    using canary = await layCanary();
    const attacked = await runProbes("attack", canary, jailed, start);
    if (attacked.error) return [attacked.error.message];
    const memory = await runProbes("memory", canary, jailed, start);
    return [
      ...(attacked.result as string[]),
      ...(canary.touched() > 0 ? [`reach the parent's listeners ${canary.touched()} times`] : []),
      ...(typeof memory.result === "number" && memory.result >= muchMemory_mb ? ["take all memory"] : []),
    ];
  } catch (error) {
    return [String(error)];
  }
}

/** Returns what a program could do in the operator's interpreter, or the reason why it cannot be held. */
export async function systemPythonFaults(python: SystemPython): Promise<string[]> {
  if (!platform.jail) return [`${process.platform} has no jail`];
  try {
    using canary = await layCanary();
    const { tcp_port, folder, parent } = canary;
    const program = {
      language: "python" as const,
      code: systemProbes,
      arguments: { tcp_port, folder, parent },
      files: [],
      timeout_ms,
      memory_mb: 128,
    };
    const child = startChild({ language: "system-python", jailed: true, python });
    const { result, error } = await child.perform(programTask(program, true), AbortSignal.timeout(2 * load_ms));
    if (error) return [error.message];
    const touched = canary.touched() > 0 ? ["reach the parent's listeners"] : [];
    return [...(result as string[]), ...touched];
  } catch (error) {
    return [String(error)];
  }
}

async function runProbes(
  code: string,
  { tcp_port, udp_port, folder, parent }: Canary,
  jailed: boolean,
  start: typeof startChild,
): Promise<ProgramOutcome> {
  const signal = AbortSignal.timeout(2 * timeout_ms);
  const program = {
    language: "javascript" as const,
    code,
    arguments: { tcp_port, udp_port, folder, parent },
    files: [],
    timeout_ms,
    memory_mb: 64,
  };
  for (let tried = 1; ; tried++) {
    const child = await spawnWithRetry(() => start({ language: "self-test", jailed }), signal);
    const outcome = await child.run(program, signal);
    if (outcome.error?.code !== "sandbox_failed" || tried === tries) return outcome;
  }
}

/** Opens listeners that count connections, and writes a file, none of which a child may reach. */
async function layCanary() {
  let touched = 0;
  const count = () => {
    touched++;
  };
  const tcp = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { open: count, data() {} } });
  const udp = await Bun.udpSocket({ hostname: "127.0.0.1", socket: { data: count } });
  const folder = temporaryFolder();
  return {
    tcp_port: tcp.port,
    udp_port: udp.port,
    folder,
    parent: process.pid,
    touched: () => touched,
    [Symbol.dispose]() {
      tcp.stop(true);
      udp.close();
      if (folder !== tmpdir()) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Creates a folder with the canary; if it cannot, returns the shared one, because that is no fault of the jail. */
function temporaryFolder(): string {
  try {
    const folder = mkdtempSync(join(tmpdir(), `runnel-canary-${process.pid}-`));
    writeFileSync(canaryFile(folder), "canary", { mode: 0o600 });
    return folder;
  } catch {
    return tmpdir();
  }
}
