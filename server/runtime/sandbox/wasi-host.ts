import { type AnyNode, errno, FileError, type Folder, type MemoryFiles, type RegularFile } from "./memory-files.ts";

interface HostOptions {
  files: MemoryFiles;
  /** The program's name first. */
  args: readonly string[];
  /** As `NAME=value`. */
  environment: readonly string[];
  stdin: Uint8Array<ArrayBuffer>;
  stdout(bytes: Uint8Array): void;
  stderr(bytes: Uint8Array): void;
  /** Called with what the guest writes to {@link signalFile}; throws to end it. */
  signal(bytes: Uint8Array): void;
  /** Called at each call of the guest; throws to end it. */
  check(): void;
  /** Sleeps for this many milliseconds; throws to end the guest. */
  sleep(ms: number): void;
}

/** Thrown where the guest ends itself. */
export class GuestExit extends Error {
  constructor(readonly code: number) {
    super(`exit ${code}`);
  }
}

/** An open file. */
interface Opened {
  node: AnyNode | { kind: "stream"; id: number; modified: bigint; write(bytes: Uint8Array): void };
  offset: number;
  append: boolean;
  readable: boolean;
  writable: boolean;
}

type Call = (...values: never[]) => number;

const openMost = 1024;
const fileTypes = { stream: 2, folder: 3, file: 4, link: 7 } as const;
const [rightRead, rightWrite] = [1n << 1n, 1n << 6n];
const allRights = (1n << 30n) - 1n;
const rootFile = 3;
/** Descriptor by which the guest tells its host how far it is. */
export const signalFile = 4;

/**
 * Implements the system interface of WebAssembly (WASI preview 1) over files in memory: no file, network, process or
 * clock of the machine can be reached, except for reading the time and sleeping.
 */
export function createWasiHost({ files, args, environment, stdin, stdout, stderr, signal, check, sleep }: HostOptions) {
  let memory: WebAssembly.Memory | null = null;
  const opened = new Map<number, Opened>();
  const stream = (id: number, write: (bytes: Uint8Array) => void, readable = false): Opened => ({
    node: { kind: "stream", id, modified: 0n, write },
    offset: 0,
    append: true,
    readable,
    writable: !readable,
  });
  const given: RegularFile = { kind: "file", id: 0, modified: 0n, fixed: true, buffer: stdin, size: stdin.length };
  opened.set(0, { node: given, offset: 0, append: false, readable: true, writable: false });
  opened.set(1, stream(-1, stdout));
  opened.set(2, stream(-2, stderr));
  opened.set(signalFile, stream(-3, signal));
  opened.set(rootFile, { node: files.root, offset: 0, append: false, readable: true, writable: true });

  const buffer = (): ArrayBuffer => {
    if (memory === null) throw new Error("The guest has no memory yet.");
    return memory.buffer as ArrayBuffer;
  };
  const view = () => new DataView(buffer());
  const bytesAt = (at: number, length: number) => new Uint8Array(buffer(), at >>> 0, length >>> 0);
  const textAt = (at: number, length: number) => new TextDecoder().decode(bytesAt(at, length));
  const setWord = (at: number, value: number) => view().setUint32(at >>> 0, value, true);
  const setLong = (at: number, value: bigint) => view().setBigUint64(at >>> 0, BigInt.asUintN(64, value), true);

  const openFile = (fd: number): Opened => {
    const found = opened.get(fd);
    if (!found) throw new FileError(errno.badFile);
    return found;
  };
  const folderOf = (fd: number): Folder => {
    const { node } = openFile(fd);
    if (node.kind !== "folder") throw new FileError(errno.notFolder);
    return node;
  };
  const regular = (file: Opened): RegularFile => {
    if (file.node.kind === "folder") throw new FileError(errno.isFolder);
    if (file.node.kind !== "file") throw new FileError(errno.notSeekable);
    return file.node;
  };
  const pieces = (at: number, count: number): Uint8Array[] =>
    Array.from({ length: count >>> 0 }, (_, index) => {
      const head = (at >>> 0) + index * 8;
      return bytesAt(view().getUint32(head, true), view().getUint32(head + 4, true));
    });

  function readAt(file: Opened, start: number, at: number, count: number): number {
    if (!file.readable) throw new FileError(errno.badFile);
    const { buffer: content, size } = regular(file);
    let position = start;
    for (const piece of pieces(at, count)) {
      const part = content.subarray(Math.min(position, size), Math.min(position + piece.length, size));
      piece.set(part);
      position += part.length;
      if (part.length < piece.length) break;
    }
    return position - start;
  }
  function writeAt(file: Opened, start: number, at: number, count: number): number {
    if (!file.writable) throw new FileError(errno.badFile);
    let position = start;
    for (const piece of pieces(at, count)) {
      if (file.node.kind === "stream") file.node.write(piece);
      else files.write(regular(file), piece, position);
      position += piece.length;
    }
    return position - start;
  }
  function setStatus(at: number, node: Opened["node"]): void {
    const size = node.kind === "file" ? node.size : 0;
    const fields: bigint[] = [1n, BigInt(node.id), BigInt(fileTypes[node.kind]), 1n, BigInt(size)];
    for (const [index, value] of [...fields, node.modified, node.modified, node.modified].entries())
      setLong(at + index * 8, value);
  }
  const setTexts = (texts: readonly string[], list: number, area: number): void => {
    let at = area;
    for (const [index, text] of texts.entries()) {
      setWord(list + index * 4, at);
      const bytes = Buffer.from(`${text}\0`);
      bytesAt(at, bytes.length).set(bytes);
      at += bytes.length;
    }
  };
  const setSizes = (texts: readonly string[], count: number, size: number): void => {
    setWord(count, texts.length);
    setWord(
      size,
      texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0),
    );
  };
  const touch = (node: AnyNode | Opened["node"], modified: bigint, flags: number): void => {
    if (node.kind === "stream") return;
    if (node.fixed) throw new FileError(errno.readOnly);
    const [set, setNow] = [4, 8];
    if (flags & set) node.modified = modified;
    if (flags & setNow) node.modified = BigInt(Date.now()) * 1_000_000n;
  };
  const firstFree = (): number => {
    if (opened.size >= openMost) throw new FileError(errno.tooManyOpen);
    for (let fd = rootFile + 1; ; fd++) if (!opened.has(fd)) return fd;
  };

  const calls = {
    args_get: (list: number, area: number) => setTexts(args, list, area),
    args_sizes_get: (count: number, size: number) => setSizes(args, count, size),
    environ_get: (list: number, area: number) => setTexts(environment, list, area),
    environ_sizes_get: (count: number, size: number) => setSizes(environment, count, size),
    clock_res_get: (_clock: number, at: number) => setLong(at, 1_000_000n),
    clock_time_get(clock: number, _precision: bigint, at: number) {
      const realTime = 0;
      setLong(at, clock === realTime ? BigInt(Date.now()) * 1_000_000n : BigInt(Math.round(performance.now() * 1e6)));
    },
    fd_advise: (fd: number) => void openFile(fd),
    fd_close(fd: number) {
      openFile(fd);
      opened.delete(fd);
    },
    fd_datasync: (fd: number) => void openFile(fd),
    fd_sync: (fd: number) => void openFile(fd),
    fd_fdstat_get(fd: number, at: number) {
      const { node, append, readable, writable } = openFile(fd);
      bytesAt(at, 24).fill(0);
      view().setUint8(at >>> 0, fileTypes[node.kind]);
      view().setUint16((at >>> 0) + 2, append && node.kind === "file" ? 1 : 0, true);
      const base = node.kind === "folder" ? allRights : (readable ? rightRead : 0n) | (writable ? rightWrite : 0n);
      setLong(at + 8, node.kind === "stream" ? base : base | (allRights & ~(rightRead | rightWrite)));
      setLong(at + 16, allRights);
    },
    fd_fdstat_set_flags(fd: number, flags: number) {
      openFile(fd).append = (flags & 1) !== 0;
    },
    fd_filestat_get: (fd: number, at: number) => setStatus(at, openFile(fd).node),
    fd_filestat_set_size(fd: number, size: bigint) {
      const file = openFile(fd);
      if (!file.writable) throw new FileError(errno.invalid);
      files.resize(regular(file), Number(size));
    },
    fd_filestat_set_times: (fd: number, _accessed: bigint, modified: bigint, flags: number) =>
      touch(openFile(fd).node, modified, flags),
    fd_pread: (fd: number, at: number, count: number, offset: bigint, done: number) =>
      setWord(done, readAt(openFile(fd), Number(offset), at, count)),
    fd_pwrite: (fd: number, at: number, count: number, offset: bigint, done: number) =>
      setWord(done, writeAt(openFile(fd), Number(offset), at, count)),
    fd_read(fd: number, at: number, count: number, done: number) {
      const file = openFile(fd);
      const length = readAt(file, file.offset, at, count);
      file.offset += length;
      setWord(done, length);
    },
    fd_write(fd: number, at: number, count: number, done: number) {
      const file = openFile(fd);
      if (file.append && file.node.kind === "file") file.offset = file.node.size;
      const length = writeAt(file, file.offset, at, count);
      file.offset += length;
      setWord(done, length);
    },
    fd_seek(fd: number, by: bigint, from: number, at: number) {
      const file = openFile(fd);
      const { size } = regular(file);
      const offset = Number(by) + ([0, file.offset, size][from] ?? Number.NaN);
      if (!(offset >= 0)) throw new FileError(errno.invalid);
      file.offset = offset;
      setLong(at, BigInt(offset));
    },
    fd_tell(fd: number, at: number) {
      const file = openFile(fd);
      regular(file);
      setLong(at, BigInt(file.offset));
    },
    fd_prestat_get(fd: number, at: number) {
      if (fd !== rootFile) throw new FileError(errno.badFile);
      setLong(at, 0n);
      setWord(at + 4, 1);
    },
    fd_prestat_dir_name(fd: number, at: number) {
      if (fd !== rootFile) throw new FileError(errno.badFile);
      bytesAt(at, 1).set([0x2f]);
    },
    fd_readdir(fd: number, at: number, length: number, cookie: bigint, done: number) {
      const folder = folderOf(fd);
      const names: [string, AnyNode][] = [[".", folder], ["..", folder], ...folder.entries];
      const area = bytesAt(at, length);
      let filled = 0;
      for (let index = Number(cookie); index < names.length && filled < area.length; index++) {
        const [name, node] = names[index] as [string, AnyNode];
        const text = Buffer.from(name);
        const entry = new Uint8Array(24 + text.length);
        const head = new DataView(entry.buffer);
        head.setBigUint64(0, BigInt(index + 1), true);
        head.setBigUint64(8, BigInt(node.id), true);
        head.setUint32(16, text.length, true);
        head.setUint8(20, fileTypes[node.kind]);
        entry.set(text, 24);
        const part = entry.subarray(0, area.length - filled);
        area.set(part, filled);
        filled += part.length;
      }
      setWord(done, filled);
    },
    path_create_directory: (fd: number, at: number, length: number) =>
      files.makeFolder(folderOf(fd), textAt(at, length)),
    path_filestat_get: (fd: number, flags: number, at: number, length: number, status: number) =>
      setStatus(status, files.find(folderOf(fd), textAt(at, length), (flags & 1) !== 0)),
    path_filestat_set_times: (
      fd: number,
      follow: number,
      at: number,
      length: number,
      _accessed: bigint,
      modified: bigint,
      flags: number,
    ) => touch(files.find(folderOf(fd), textAt(at, length), (follow & 1) !== 0), modified, flags),
    path_link(): void {
      throw new FileError(errno.notSupported);
    },
    path_open(
      fd: number,
      follow: number,
      at: number,
      length: number,
      how: number,
      rights: bigint,
      _inherited: bigint,
      flags: number,
      result: number,
    ) {
      const [create, folder, exclusive, truncate] = [1, 2, 4, 8].map((bit) => (how & bit) !== 0);
      const free = firstFree();
      const path = textAt(at, length);
      const options = { create: create === true && !folder, exclusive, follow: (follow & 1) !== 0 };
      const node = files.open(folderOf(fd), path, options);
      if (node.kind === "link") throw new FileError(errno.loop);
      if (folder && node.kind !== "folder") throw new FileError(errno.notFolder);
      const writable = (rights & rightWrite) !== 0n;
      if (node.kind === "folder" && (writable || create)) throw new FileError(errno.isFolder);
      if (node.kind === "file" && node.fixed && (writable || truncate)) throw new FileError(errno.access);
      if (node.kind === "file" && truncate) files.resize(node, 0);
      opened.set(free, { node, offset: 0, append: (flags & 1) !== 0, readable: (rights & rightRead) !== 0n, writable });
      setWord(result, free);
    },
    path_readlink(fd: number, at: number, length: number, area: number, areaLength: number, done: number) {
      const node = files.find(folderOf(fd), textAt(at, length), false);
      if (node.kind !== "link") throw new FileError(errno.invalid);
      const target = Buffer.from(node.target).subarray(0, areaLength >>> 0);
      bytesAt(area, target.length).set(target);
      setWord(done, target.length);
    },
    path_remove_directory: (fd: number, at: number, length: number) =>
      files.removeFolder(folderOf(fd), textAt(at, length)),
    path_rename: (fd: number, at: number, length: number, toFd: number, to: number, toLength: number) =>
      files.rename(folderOf(fd), textAt(at, length), folderOf(toFd), textAt(to, toLength)),
    path_symlink: (target: number, targetLength: number, fd: number, at: number, length: number) =>
      files.makeLink(textAt(target, targetLength), folderOf(fd), textAt(at, length)),
    path_unlink_file: (fd: number, at: number, length: number) => files.removeFile(folderOf(fd), textAt(at, length)),
    /** Supports waits for a time, which is all that `time.sleep` needs; any other wait is over at once. */
    poll_oneoff(list: number, events: number, count: number, done: number) {
      const [subscription, event] = [48, 32];
      const waits = Array.from({ length: count >>> 0 }, (_, index) => {
        const at = (list >>> 0) + index * subscription;
        const isClock = view().getUint8(at + 8) === 0;
        const span = isClock ? Number(view().getBigUint64(at + 24, true)) / 1e6 : 0;
        const isAbsolute = isClock && (view().getUint16(at + 40, true) & 1) !== 0;
        const base = view().getUint32(at + 16, true) === 0 ? Date.now() : performance.now();
        return { at, isClock, ms: Math.max(0, isAbsolute ? span - base : span) };
      });
      const first = waits.reduce((least, wait) => Math.min(least, wait.ms), Number.POSITIVE_INFINITY);
      if (Number.isFinite(first)) sleep(first);
      const over = waits.filter(({ ms }) => ms <= first);
      for (const [index, { at, isClock }] of over.entries()) {
        const target = (events >>> 0) + index * event;
        bytesAt(target, event).fill(0);
        setLong(target, view().getBigUint64(at, true));
        view().setUint8(target + 10, isClock ? 0 : view().getUint8(at + 8));
      }
      setWord(done, over.length);
    },
    proc_exit(code: number): void {
      throw new GuestExit(code);
    },
    sched_yield: () => {},
    random_get(at: number, length: number) {
      const most = 65536;
      for (let from = 0; from < length >>> 0; from += most)
        crypto.getRandomValues(bytesAt(at + from, Math.min(most, (length >>> 0) - from)));
    },
    sock_accept: refuse,
    sock_recv: refuse,
    sock_send: refuse,
    sock_shutdown: refuse,
  } satisfies Record<string, (...values: never[]) => void>;

  const guarded =
    (call: (...values: never[]) => void): Call =>
    (...values) => {
      check();
      try {
        call(...values);
        return 0;
      } catch (error) {
        if (error instanceof FileError) return error.errno;
        // A pointer outside of the guest's memory.
        if (error instanceof RangeError) return errno.invalid;
        throw error;
      }
    };
  return {
    imports: Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, guarded(call)])),
    /** Must be called before the guest runs. */
    use(guestMemory: WebAssembly.Memory): void {
      memory = guestMemory;
    },
  };
}

function refuse(): void {
  throw new FileError(errno.notSupported);
}
