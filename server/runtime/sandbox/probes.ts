import { lookup } from "node:dns/promises";
import {
  accessSync,
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { native } from "../../lib/native.ts";
import { addressOf, openLibc, type Word } from "./libc.ts";
import type { LoadRuntime } from "./runtime.ts";

/** Things of the parent that no child may reach. */
export interface Canary {
  tcp_port: number;
  udp_port: number;
  /** Folder with a file of the parent, writable for the parent. */
  folder: string;
  parent: number;
}

/** Returns the path of the parent's file. */
export const canaryFile = (folder: string): string => join(folder, "canary");

type Probe = (canary: Canary) => unknown;

/** Attacks available to a program that has left its interpreter. Each throws if the jail holds. */
export const probes: Record<string, Probe> = {
  "read a file of the system": () => readFileSync("/etc/passwd", "utf8"),
  "read a file in another way": () => Bun.file("/etc/passwd").text(),
  "list a folder": () => readdirSync("/"),
  "list the home folders": () => readdirSync("/home"),
  "write a file": ({ folder }) => writeFileSync(join(folder, "written"), "x"),
  "write a file in another way": ({ folder }) => Bun.write(join(folder, "written-too"), "x"),
  "make a folder": ({ folder }) => mkdirSync(join(folder, "made")),
  "make a link": ({ folder }) => symlinkSync("/etc/passwd", join(folder, "linked")),
  "read the parent's environment": ({ parent }) => readFileSync(`/proc/${parent}/environ`),
  "read the parent's memory map": ({ parent }) => readFileSync(`/proc/${parent}/maps`),
  "list the parent's files": ({ parent }) => readdirSync(`/proc/${parent}/fd`),
  "list the processes": () => readdirSync("/proc"),
  "read the parent's file": ({ folder }) => readFileSync(canaryFile(folder)),
  "write the parent's file": ({ folder }) => appendFileSync(canaryFile(folder), "x"),
  "open the parent's file to others": ({ folder }) => chmodSync(canaryFile(folder), 0o777),
  "delete the parent's file": ({ folder }) => rmSync(canaryFile(folder)),
  "start itself": () => Bun.spawnSync([process.execPath, "--version"], { env: {} }),
  "start a shell": () => Bun.spawnSync(["/bin/sh", "-c", "id"]),
  "connect by fetch": ({ tcp_port }) => fetch(`http://127.0.0.1:${tcp_port}/`, shortTimeout()),
  "connect by IPv6": ({ tcp_port }) => fetch(`http://[::ffff:127.0.0.1]:${tcp_port}/`, shortTimeout()),
  "connect by socket": ({ tcp_port }) => opened(tcp_port),
  "ask the cloud's metadata": () => fetch("http://169.254.169.254/", shortTimeout()),
  "look up a name": () => lookup("example.com"),
  "send a datagram": async ({ udp_port }) =>
    (await Bun.udpSocket({ connect: { hostname: "127.0.0.1", port: udp_port } })).send("x"),
  "listen on a port": () => Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() }),
  "listen on a socket file": ({ folder }) => Bun.listen({ unix: join(folder, "socket"), socket: { data() {} } }),
  "signal the parent": ({ parent }) => process.kill(parent, 0),
  "signal all": () => process.kill(-1, 0),
  "make a raw socket": () => systemCall([41, 198], 2, 3, 1),
  "make a local socket": () => systemCall([41, 198], 1, 1, 0),
  // 0x4206 (PTRACE_SEIZE) does not stop the parent if it succeeds.
  "trace the parent": ({ parent }) => systemCall([101, 117], 0x4206, parent),
  "read the parent's memory": ({ parent }) => systemCall([310, 270], parent),
  "hold the parent": ({ parent }) => systemCall([434, 434], parent),
  "use io_uring": () => systemCall([425, 425], 1, addressOf(new Uint8Array(120))),
  "make a network of its own": () => systemCall([272, 97], 0x40000000),
  "talk to the kernel's machine": () => systemCall([321, 280], 0, addressOf(new Uint32Array([2, 4, 4, 1, 0])), 20),
  "make shared memory": () => systemCall([29, 194], 0, 4096, 0o600),
  "slow the parent down": ({ parent }) => systemCall([141, 140], 0, parent, 0),
  "limit the parent": ({ parent }) => systemCall([302, 261], parent, 7),
  // Would disable the signal on the parent's death.
  "outlive the parent": () => systemCall([157, 167], 1, 0),
  "outlive the parent by half a word": () => systemCall([157, 167], 0x1_0000_0001, 0),
  "keep a right of root's": () => noneOf(/^CapEff:\s*0*$/m, readFileSync("/proc/self/status", "utf8")),
};

/** Attacks available to a program in a fully loaded runtime: on the privileges that the child gave up last. */
export const lateProbes: Record<string, Probe> = {
  "read the machine's connections": () => readFileSync("/proc/self/net/tcp", "utf8"),
  "read the machine's interfaces": () => readFileSync("/proc/self/net/dev", "utf8"),
  "read the machine's mounts": () => readFileSync("/proc/self/mountinfo", "utf8"),
  "read the machine's groups": () => readFileSync("/proc/self/cgroup", "utf8"),
  "read the machine's memory": () => readFileSync("/proc/meminfo", "utf8"),
  "read its own memory map": () => Bun.file("/proc/self/maps").text(),
  "read its own command": () => readFile("/proc/self/cmdline"),
  "list its own files": () => readdir("/proc/self/fd"),
  "find its own executable": () => readlinkSync("/proc/self/exe"),
  "learn that a file is there": () => statSync("/etc/passwd"),
  "learn that a file is there in another way": () => accessSync("/etc/passwd"),
  "learn that a file is there by a name that is taken": () =>
    noneOf(
      /EACCES/,
      textOf(() => mkdirSync("/etc")),
    ),
  "learn the machine's name": () => noneOf(/^(localhost|unknown)?$/, hostname()),
  "load a library": () => native().dlopen("libc.so.6", { getppid: { args: [], returns: "int" } }),
  "read memory by its address": () => native().read.u8(native().ptr(new Uint8Array(1)), 0),
};

function textOf(act: () => unknown): string {
  try {
    return String(act());
  } catch (error) {
    return String(error);
  }
}

function noneOf(pattern: RegExp, text: string): void {
  if (pattern.test(text)) throw new Error("There is none.");
}

/** Returns a timeout long enough for any refusal, which is immediate. */
const shortTimeout = () => ({ signal: AbortSignal.timeout(1000) });

const opened = (port: number) =>
  new Promise((resolve, reject) => {
    connect(port, "127.0.0.1", () => resolve(true)).on("error", reject);
  });

/** Makes a system call by number, like an attacker. */
function systemCall([x64, arm64]: [number, number], ...values: Word[]): number {
  const answer = openLibc().syscall(process.arch === "x64" ? x64 : arm64, ...values);
  if (answer < 0) throw new Error("refused");
  return answer;
}

/** Returns the names of the attacks that succeeded. */
async function attack(probes: Record<string, Probe>, canary: Canary): Promise<string[]> {
  const through: string[] = [];
  for (const [name, probe] of Object.entries(probes)) {
    // An attack that hangs was not refused.
    const done = await Promise.race([attackSucceeds(probe, canary), Bun.sleep(1500).then(() => true)]);
    if (done) through.push(name);
  }
  return through;
}

async function attackSucceeds(probe: Probe, canary: Canary): Promise<boolean> {
  try {
    await probe(canary);
    return true;
  } catch (error) {
    return error instanceof Error && error.name === "TimeoutError";
  }
}

/** Allocates memory without touching it, so that a machine with little memory does not suffer from the test. */
function takeMemory(limit_mb: number): number {
  const chunks: Uint8Array[] = [];
  try {
    while (chunks.length * 16 < limit_mb) chunks.push(new Uint8Array(16 << 20));
  } catch {}
  return chunks.length * 16;
}

/** Runtime of the self-test: runs the attacks (the late ones after `loaded`), or allocates memory. */
export const loadProbes =
  (loaded: () => void): LoadRuntime =>
  async () =>
  async (program) => {
    const given = program.arguments as unknown as Canary;
    const result = program.code === "memory" ? takeMemory(4096) : await attackTwice(given, loaded);
    return { result: JSON.stringify(result), error: null, files: [], files_dropped: 0, peak_memory_mb: null };
  };

async function attackTwice(canary: Canary, loaded: () => void): Promise<string[]> {
  const through = await attack(probes, canary);
  loaded();
  return [...through, ...(await attack(lateProbes, canary))];
}
