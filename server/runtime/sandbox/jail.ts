import { readFileSync } from "node:fs";
import { restrictTo } from "./landlock.ts";
import { addressOf, cString, type Libc, openLibc } from "./libc.ts";
import { parentSocket } from "./parent-socket.ts";
import { filterSystemCalls } from "./seccomp.ts";

/** Requirements of a language on its jail. */
interface JailNeeds {
  /** Files and folders that its runtime reads. The program can read them too: nothing secret. */
  readable: readonly string[];
  /** Private memory of the process in MB, which is also the most that one program can take from the machine. */
  data_mb: number;
  cpu_seconds: number;
  /** Environment variables of the runtime; the child has no others. */
  environment: readonly string[];
  /** Maximum bytes of a file that it writes; absent: none. */
  file_bytes?: number;
}

const RLIMIT = { CPU: 0, FSIZE: 1, DATA: 2, STACK: 3, CORE: 4, NOFILE: 7, MSGQUEUE: 12 };
const PR = { SET_PDEATHSIG: 1, CAPBSET_DROP: 24, SET_SECUREBITS: 28, SET_NO_NEW_PRIVS: 38, CAP_AMBIENT: 47 };
const SIGKILL = 9;

/**
 * Gives up all privileges except computing and using the open pipes, then executes `command`: a new program image, so
 * that no earlier thread is left. Returns only by throwing.
 */
export function becomeJailed(command: readonly string[], needs: JailNeeds, parent: number): never {
  const libc = openLibc();
  limitResources(libc, needs);
  killWithParent(libc, parent);
  dropCapabilities(libc);
  closeInherited(libc);
  // Set-uid programs (sudo, ping) must not restore privileges; both filters below also require it.
  must(libc.prctl(PR.SET_NO_NEW_PRIVS, 1) === 0, "no_new_privs");
  const execute = prepareExecution(libc, command, needs);
  must(restrictTo(libc, allowedPaths(needs)), "Landlock");
  must(filterSystemCalls(libc, process.pid), "seccomp");
  execute();
  // Reached only if the system refused it. Under the last limit, even an exception may need more memory than there is.
  process.kill(process.pid, "SIGKILL");
  throw new Error();
}

/**
 * Prepares a native interpreter, which closes the rest of its jail itself: it needs namespaces, which only a process of
 * one thread can enter. Root keeps its capabilities until then, because it may map its own id only with one of them.
 * Returns only by throwing.
 */
export function becomeNative(command: readonly string[], needs: JailNeeds, parent: number): never {
  const libc = openLibc();
  limitResources(libc, needs);
  killWithParent(libc, parent);
  closeInherited(libc);
  must(libc.prctl(PR.SET_NO_NEW_PRIVS, 1) === 0, "no_new_privs");
  prepareExecution(libc, command, needs)();
  throw new Error("The interpreter could not be started.");
}

/**
 * Bounds a child without a jail: it dies with its parent and after its processor time, even in a loop that only the
 * parent could end. Does nothing if the system refuses.
 */
export function boundProcess({ cpu_seconds }: Pick<JailNeeds, "cpu_seconds">, parent: number): void {
  try {
    const libc = openLibc();
    libc.setrlimit(RLIMIT.CPU, cpu_seconds);
    killWithParent(libc, parent);
  } catch {}
}

function limitResources(libc: Libc, { cpu_seconds, file_bytes = 0 }: JailNeeds): void {
  // Each limit with what it prevents. CPU time: a loop that nothing else ends.
  libc.setrlimit(RLIMIT.CPU, cpu_seconds);
  // File size: filling the disk, if a file were ever writable.
  libc.setrlimit(RLIMIT.FSIZE, file_bytes);
  // Core dumps: a file with the contents of memory.
  libc.setrlimit(RLIMIT.CORE, 0);
  // Open files: filling the system's file table.
  libc.setrlimit(RLIMIT.NOFILE, 64);
  // Message queues: queues that outlive the process.
  libc.setrlimit(RLIMIT.MSGQUEUE, 0);
}

/**
 * Kills this process when its parent dies. Checks the parent afterwards, because it may have died before the request.
 */
function killWithParent(libc: Libc, parent: number): void {
  must(libc.prctl(PR.SET_PDEATHSIG, SIGKILL) === 0 && libc.getppid() === parent, "the parent");
}

/** Makes root an ordinary user. Fails harmlessly if there are no capabilities to drop. */
function dropCapabilities(libc: Libc): void {
  for (let capability = 0; capability < 64; capability++) libc.prctl(PR.CAPBSET_DROP, capability);
  const clearAll = 4;
  libc.prctl(PR.CAP_AMBIENT, clearAll);
  // No root, no fix-up, no keep, all locked: otherwise the new program image of uid 0 would regain its capabilities.
  const rootWithoutPrivileges = 0b10101111;
  libc.prctl(PR.SET_SECUREBITS, rootWithoutPrivileges);
  const capset = process.arch === "x64" ? 126 : 91;
  const version3 = new BigUint64Array([0x20080522n]);
  libc.syscall(capset, addressOf(version3), addressOf(new Uint8Array(24)));
}

/** Closes inherited files on exec: the database, sockets and pipes of other children. */
function closeInherited(libc: Libc): void {
  const [closeRange, onExecution] = [436, 4];
  must(libc.syscall(closeRange, parentSocket + 1, 0xffffffff, onExecution) === 0, "closing of files");
}

/** Files that the runtime itself reads at its start; without some of them it aborts. */
const allowedPaths = ({ readable }: JailNeeds) => ({
  read: ["/dev/urandom", "/dev/zero", "/proc/self", "/proc/meminfo", "/sys/devices/system/cpu", ...readable],
  // The loader and its libraries, file by file, so that no program of the system can be started.
  execute: mappedFiles(),
  write: ["/dev/null"],
});

const mappedFiles = (): string[] => [
  process.execPath,
  ...new Set(Array.from(readFileSync("/proc/self/maps", "utf8").matchAll(/ (\/.*)$/gm), ([, path = ""]) => path)),
];

/** Prepares all buffers before the filters, because the runtime may need a call for them that is refused later. */
function prepareExecution(libc: Libc, command: readonly string[], needs: JailNeeds): () => void {
  const execve = process.arch === "x64" ? 59 : 221;
  const texts = command.map(cString);
  const list = new BigUint64Array([...texts.map(addressOf), 0n]);
  // No other variables: no key, no path, no preloaded library.
  const settings = needs.environment.map(cString);
  const environment = new BigUint64Array([...settings.map(addressOf), 0n]);
  return () => {
    // Memory limit, set last: this image has already reserved more address space, so its next allocation fails.
    if (libc.setrlimit(RLIMIT.DATA, needs.data_mb * 2 ** 20) !== 0) return;
    libc.syscall(execve, list[0] ?? 0n, addressOf(list), addressOf(environment));
    // Keeps the buffers alive until now, because the kernel reads them through pointers.
    texts.concat(settings);
  };
}

function must(done: boolean, what: string): void {
  if (!done) throw new Error(`This system has no jail: ${what} was refused.`);
}
