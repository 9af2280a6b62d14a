import { readFileSync } from "node:fs";
import { keepOnly } from "./landlock.ts";
import { addressOf, cString, type Libc, openLibc } from "./libc.ts";
import { parentSocket } from "./parent-socket.ts";
import { filterSystemCalls } from "./seccomp.ts";

/** What a language needs of the jail that it runs in. */
interface JailNeeds {
  /** Files and folders that its runtime reads. The program reaches them too: nothing secret. */
  readable: readonly string[];
  /** Private memory of the process, in MB, and with it what the machine can lose to one program. */
  data_mb: number;
  cpu_seconds: number;
  /** Settings of the runtime; the child knows nothing else of its environment. */
  environment: readonly string[];
}

const RLIMIT = { CPU: 0, FSIZE: 1, DATA: 2, STACK: 3, CORE: 4, NOFILE: 7, MSGQUEUE: 12 };
const PR = { SET_PDEATHSIG: 1, CAPBSET_DROP: 24, SET_SECUREBITS: 28, SET_NO_NEW_PRIVS: 38, CAP_AMBIENT: 47 };
const SIGKILL = 9;

/**
 * Gives up every right but to compute and to use the open pipes, then becomes `command`: a new program image, so that
 * no thread is left that was there before. Returns only by throwing.
 */
export function becomeJailed(command: readonly string[], needs: JailNeeds, parent: number): never {
  const libc = openLibc();
  limitResources(libc, needs);
  dieWith(libc, parent);
  dropCapabilities(libc);
  closeInherited(libc);
  // No file that changes users (sudo, ping) gives anything back; the two filters below require it.
  must(libc.prctl(PR.SET_NO_NEW_PRIVS, 1) === 0, "no_new_privs");
  const execute = prepareExecution(libc, command, needs);
  must(keepOnly(libc, kept(needs)), "Landlock");
  must(filterSystemCalls(libc, process.pid), "seccomp");
  execute();
  // Only if the system refused it. With the last limit in force, an exception may be more than there is memory for.
  process.kill(process.pid, "SIGKILL");
  throw new Error();
}

/**
 * What a system without a jail still gives: an end with the parent and after its time, for a loop in the interpreter
 * that only the parent would end, and that has none any more. Where there is not even that, nothing.
 */
export function boundProcess({ cpu_seconds }: Pick<JailNeeds, "cpu_seconds">, parent: number): void {
  try {
    const libc = openLibc();
    libc.setrlimit(RLIMIT.CPU, cpu_seconds);
    dieWith(libc, parent);
  } catch {}
}

function limitResources(libc: Libc, { cpu_seconds }: JailNeeds): void {
  // A loop that nobody else ends.
  libc.setrlimit(RLIMIT.CPU, cpu_seconds);
  // A full disk, should a file ever be writable.
  libc.setrlimit(RLIMIT.FSIZE, 0);
  // A core file with what was in memory.
  libc.setrlimit(RLIMIT.CORE, 0);
  // The system's table of open files.
  libc.setrlimit(RLIMIT.NOFILE, 64);
  // Queues that outlive the process.
  libc.setrlimit(RLIMIT.MSGQUEUE, 0);
}

/** A server that was killed leaves no child behind: also none whose parent was gone before the kernel was asked. */
function dieWith(libc: Libc, parent: number): void {
  must(libc.prctl(PR.SET_PDEATHSIG, SIGKILL) === 0 && libc.getppid() === parent, "the parent");
}

/** Root without a capability is a user like any other. Fails, harmlessly, for whoever has none to drop. */
function dropCapabilities(libc: Libc): void {
  for (let capability = 0; capability < 64; capability++) libc.prctl(PR.CAPBSET_DROP, capability);
  const clearAll = 4;
  libc.prctl(PR.CAP_AMBIENT, clearAll);
  // No root, no fix-up, no keep, all locked: otherwise the new program image of uid 0 has its capabilities back.
  const rootIsNobody = 0b10101111;
  libc.prctl(PR.SET_SECUREBITS, rootIsNobody);
  const capset = process.arch === "x64" ? 126 : 91;
  const version3 = new BigUint64Array([0x20080522n]);
  libc.syscall(capset, addressOf(version3), addressOf(new Uint8Array(24)));
}

/** The database, sockets, other children's pipes: whatever else this process was born with ends with its old image. */
function closeInherited(libc: Libc): void {
  const [closeRange, onExecution] = [436, 4];
  must(libc.syscall(closeRange, parentSocket + 1, 0xffffffff, onExecution) === 0, "closing of files");
}

/** What the runtime itself reads at its start; without some of these it aborts. */
const kept = ({ readable }: JailNeeds) => ({
  read: ["/dev/urandom", "/dev/zero", "/proc/self", "/proc/meminfo", "/sys/devices/system/cpu", ...readable],
  // The loader and its libraries, file by file: no program of the system can be started.
  execute: mappedFiles(),
  write: ["/dev/null"],
});

const mappedFiles = (): string[] => [
  process.execPath,
  ...new Set(Array.from(readFileSync("/proc/self/maps", "utf8").matchAll(/ (\/.*)$/gm), ([, path = ""]) => path)),
];

/** Everything is laid out before the filters: a thing of the runtime that is refused must not stop the last step. */
function prepareExecution(libc: Libc, command: readonly string[], needs: JailNeeds): () => void {
  const execve = process.arch === "x64" ? 59 : 221;
  const texts = command.map(cString);
  const list = new BigUint64Array([...texts.map(addressOf), 0n]);
  // Otherwise empty: no key, no path, no preloaded library.
  const settings = needs.environment.map(cString);
  const environment = new BigUint64Array([...settings.map(addressOf), 0n]);
  return () => {
    // A memory bomb. Last of all: this image has reserved more address space than that already, and dies of the next.
    if (libc.setrlimit(RLIMIT.DATA, needs.data_mb * 2 ** 20) !== 0) return;
    libc.syscall(execve, list[0] ?? 0n, addressOf(list), addressOf(environment));
    // Held until now: the kernel reads what the lists only point to.
    texts.concat(settings);
  };
}

function must(done: boolean, what: string): void {
  if (!done) throw new Error(`This system has no jail: ${what} was refused.`);
}
