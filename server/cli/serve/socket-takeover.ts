import { readFileSync } from "node:fs";
import { native, openCLibrary } from "../../lib/native.ts";
import { platform } from "../../lib/platform.ts";
import { processTable } from "../../lib/process-table.ts";

const { FFIType, ptr } = native();

/**
 * Makes the system give every new connection on a port to the second socket that listens there, if there is one.
 * Otherwise it distributes them among both, and closing one loses its connections that are not accepted yet. Returns
 * true if the system can do that: only Linux can.
 */
export function forwardConnections(port: number): boolean {
  if (!platform.leadsConnections) return false;
  try {
    const descriptor = descriptorOf(port);
    return descriptor !== null && attach(descriptor);
  } catch {
    return false; // No /proc, or another C library.
  }
}

/** Returns the descriptor of this process's socket that listens on a port, which the runtime does not expose. */
function descriptorOf(port: number): number | null {
  const inodes = new Set(["tcp", "tcp6"].flatMap((family) => listenersOf(family, port)));
  const files = processTable.openFiles("self") ?? [];
  return files.find((number) => inodes.has(processTable.fileOf("self", number) ?? "")) ?? null;
}

function listenersOf(family: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const lines = readFileSync(`/proc/self/net/${family}`, "utf8").split("\n").slice(1);
  const columns = lines.map((line) => line.trim().split(/\s+/));
  return columns.flatMap(([, local, , state, , , , , , inode]) =>
    state === listening && local?.endsWith(suffix) ? [`socket:[${inode}]`] : [],
  );
}

const listening = "0A";

const [socketLevel, attachReusePortFilter] = [1, 51]; // SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF

// A filter of one instruction: "return 1", the index of the group's second socket. Without a second one the result is
// ignored and the system chooses as usual.
function attach(descriptor: number): boolean {
  const { symbols, close } = openCLibrary({
    setsockopt: { args: [FFIType.i32, FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
  });
  const instruction = Buffer.alloc(8);
  instruction.writeUInt16LE(0x06, 0);
  instruction.writeUInt32LE(1, 4);
  const program = Buffer.alloc(16);
  program.writeUInt16LE(1, 0);
  program.writeBigUInt64LE(BigInt(ptr(instruction)), 8);
  const done = symbols.setsockopt(descriptor, socketLevel, attachReusePortFilter, ptr(program), program.length) === 0;
  close();
  return done;
}
