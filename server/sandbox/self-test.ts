import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { platform } from "../lib/platform.ts";
import { startPatiently } from "../lib/start-patiently.ts";
import type { SandboxLevel } from "../wire/names.ts";
import { startChild } from "./child-process.ts";
import { type Canary, canaryFile } from "./probes.ts";
import type { ProgramOutcome } from "./program.ts";

const timeout_ms = 15_000;
/** A process that ended before it said anything has shown nothing: another one is asked. */
const tries = 3;
/** More than the jail lets a child have. */
const muchMemory_mb = 2048;

/** What this system's jail is worth: `strict` if it held against every attack. Never throws. */
export async function selfTest(): Promise<SandboxLevel> {
  return (await jailFaults()).length === 0 ? "strict" : "process";
}

/** What a child could do that it must not, in words; or why there is no jail at all. */
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
    const child = await startPatiently(() => start({ language: "self-test", jailed }), signal);
    const outcome = await child.run(program, signal);
    if (outcome.error?.code !== "sandbox_failed" || tried === tries) return outcome;
  }
}

/** Listeners that count who comes, and a file. */
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

/** Where nothing may be written, that is no reason against the jail. */
function temporaryFolder(): string {
  try {
    const folder = mkdtempSync(join(tmpdir(), `runnel-canary-${process.pid}-`));
    writeFileSync(canaryFile(folder), "canary", { mode: 0o600 });
    return folder;
  } catch {
    return tmpdir();
  }
}
