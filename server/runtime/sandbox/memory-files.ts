/** Error of a file operation, with its number in WASI. */
export class FileError extends Error {
  constructor(readonly errno: number) {
    super(`errno ${errno}`);
  }
}

export const errno = {
  access: 2,
  badFile: 8,
  exists: 20,
  invalid: 28,
  isFolder: 31,
  loop: 32,
  tooManyOpen: 33,
  nameTooLong: 37,
  missing: 44,
  noSpace: 51,
  notImplemented: 52,
  notFolder: 54,
  notEmpty: 55,
  notSupported: 58,
  notPermitted: 63,
  readOnly: 69,
  notSeekable: 70,
} as const;

/** Maximum files, folders and links, so that empty ones do not fill the memory either. */
const nodesMost = 50_000;
const nameMost = 255;
const linksMost = 32;

interface Node {
  id: number;
  /** Nanoseconds since 1970. */
  modified: bigint;
  /** Set for files of the host; the program can neither change nor remove them. */
  fixed: boolean;
}

export interface Folder extends Node {
  kind: "folder";
  entries: Map<string, AnyNode>;
}

export interface RegularFile extends Node {
  kind: "file";
  /** At least `size` bytes; doubled when it is full, so that many small writes are not expensive. */
  buffer: Uint8Array<ArrayBuffer>;
  size: number;
}

interface Link extends Node {
  kind: "link";
  target: string;
}

export type AnyNode = Folder | RegularFile | Link;

/** A place in a folder: its parent, its last name, and the node if there is one. */
interface Place {
  parent: Folder;
  name: string;
  node: AnyNode | undefined;
}

const now = (): bigint => BigInt(Date.now()) * 1_000_000n;

/**
 * A tree of files in memory, for a program in WebAssembly. `room` is the maximum total of the bytes that the program
 * writes. All operations throw {@link FileError}.
 */
export function createMemoryFiles(room: number) {
  let [count, used] = [0, 0];
  const node = (): Node => {
    if (++count > nodesMost) throw new FileError(errno.noSpace);
    return { id: count, modified: now(), fixed: false };
  };
  const newFolder = (): Folder => ({ ...node(), kind: "folder", entries: new Map() });
  const root = newFolder();

  /** Resolves a path below `from`; an absolute one and `..` never leave the root. */
  function place(from: Folder, path: string, follow: boolean, links = 0): Place {
    const isFolder = path.endsWith("/");
    const parts = path.split("/").filter((part) => part !== "" && part !== ".");
    const trail: Folder[] = [];
    let folder = path.startsWith("/") ? root : from;
    for (const [at, name] of parts.entries()) {
      if (Buffer.byteLength(name) > nameMost) throw new FileError(errno.nameTooLong);
      const isLast = at === parts.length - 1;
      if (name === "..") {
        folder = trail.pop() ?? root;
        if (isLast) return { parent: folder, name: ".", node: folder };
        continue;
      }
      let found = folder.entries.get(name);
      if (found?.kind === "link" && (!isLast || follow || isFolder)) {
        if (links >= linksMost) throw new FileError(errno.loop);
        const target = place(folder, found.target, true, links + 1);
        if (isLast) return target;
        found = target.node;
      }
      if (isLast) {
        if (isFolder && found && found.kind !== "folder") throw new FileError(errno.notFolder);
        return { parent: folder, name, node: found };
      }
      if (!found) throw new FileError(errno.missing);
      if (found.kind !== "folder") throw new FileError(errno.notFolder);
      trail.push(folder);
      folder = found;
    }
    return { parent: folder, name: ".", node: folder };
  }

  const changeable = ({ parent, node }: Place): void => {
    if (parent.fixed || node?.fixed) throw new FileError(errno.readOnly);
  };
  const absent = (where: Place): void => {
    if (where.node) throw new FileError(errno.exists);
    changeable(where);
  };
  const present = ({ node }: Place): AnyNode => {
    if (!node) throw new FileError(errno.missing);
    return node;
  };
  const put = ({ parent, name }: Place, child: AnyNode): void => {
    parent.entries.set(name, child);
    parent.modified = now();
  };
  const take = ({ parent, name }: Place): void => {
    parent.entries.delete(name);
    parent.modified = now();
  };
  const newFile = (): RegularFile => ({ ...node(), kind: "file", buffer: new Uint8Array(0), size: 0 });

  function resize(file: RegularFile, size: number): void {
    if (file.fixed) throw new FileError(errno.readOnly);
    if (used + size - file.size > room) throw new FileError(errno.noSpace);
    if (size > file.buffer.length) {
      const larger = new Uint8Array(Math.max(size, Math.min(2 * file.buffer.length, room)));
      larger.set(file.buffer.subarray(0, file.size));
      file.buffer = larger;
    } else if (size < file.size) file.buffer.fill(0, size, file.size);
    used += size - file.size;
    file.size = size;
    file.modified = now();
  }

  const api = {
    root,
    find: (from: Folder, path: string, follow: boolean): AnyNode => present(place(from, path, follow)),
    /** Finds a file or folder to open, or creates a file. */
    open(from: Folder, path: string, { create = false, exclusive = false, follow = true } = {}): AnyNode {
      const where = place(from, path, follow);
      if (where.node && create && exclusive) throw new FileError(errno.exists);
      if (where.node || !create) return present(where);
      changeable(where);
      if (path.endsWith("/")) throw new FileError(errno.isFolder);
      const file = newFile();
      put(where, file);
      return file;
    },
    makeFolder(from: Folder, path: string): void {
      const where = place(from, path, false);
      absent(where);
      put(where, newFolder());
    },
    makeLink(target: string, from: Folder, path: string): void {
      const where = place(from, path, false);
      absent(where);
      put(where, { ...node(), kind: "link", target });
    },
    removeFile(from: Folder, path: string): void {
      const where = place(from, path, false);
      const child = present(where);
      if (child.kind === "folder") throw new FileError(errno.isFolder);
      changeable(where);
      if (child.kind === "file") used -= child.size;
      count--;
      take(where);
    },
    removeFolder(from: Folder, path: string): void {
      const where = place(from, path, false);
      const child = present(where);
      if (child.kind !== "folder") throw new FileError(errno.notFolder);
      if (child.entries.size > 0) throw new FileError(errno.notEmpty);
      if (where.name === ".") throw new FileError(errno.invalid);
      changeable(where);
      count--;
      take(where);
    },
    rename(from: Folder, path: string, to: Folder, target: string): void {
      const [source, goal] = [place(from, path, false), place(to, target, false)];
      const child = present(source);
      if (source.name === "." || goal.name === ".") throw new FileError(errno.invalid);
      changeable(source);
      changeable(goal);
      if (goal.node === child) return;
      if (goal.node && (goal.node.kind === "folder") !== (child.kind === "folder"))
        throw new FileError(goal.node.kind === "folder" ? errno.isFolder : errno.notFolder);
      if (goal.node?.kind === "folder" && goal.node.entries.size > 0) throw new FileError(errno.notEmpty);
      if (child.kind === "folder" && contains(child, goal.parent)) throw new FileError(errno.invalid);
      if (goal.node?.kind === "file") used -= goal.node.size;
      take(source);
      put(goal, child);
    },
    write(file: RegularFile, bytes: Uint8Array, at: number): void {
      resize(file, Math.max(file.size, at + bytes.length));
      file.buffer.set(bytes, at);
    },
    resize,
    /**
     * Adds a file of the host with its folders. Its bytes are not copied. If `fixed`, they do not count; if not, the
     * program may change them in place.
     */
    layFile(path: string, bytes: Uint8Array<ArrayBuffer>, fixed = true): void {
      const parent = layFolder(path.slice(0, path.lastIndexOf("/")));
      const file: RegularFile = { ...node(), kind: "file", buffer: bytes, size: bytes.length, fixed };
      if (!fixed) used += bytes.length;
      parent.entries.set(path.slice(path.lastIndexOf("/") + 1), file);
    },
    layFolder,
    /** Adds a read-only folder whose files are read when the program first looks into it. */
    layLazily(path: string, read: () => Record<string, Uint8Array<ArrayBuffer>>): void {
      const parent = layFolder(path.slice(0, path.lastIndexOf("/")));
      const name = path.slice(path.lastIndexOf("/") + 1);
      const folder: Folder = { ...newFolder(), fixed: true };
      Object.defineProperty(folder, "entries", {
        configurable: true,
        get() {
          Object.defineProperty(folder, "entries", { value: new Map() });
          for (const [inner, bytes] of Object.entries(read())) api.layFile(`${path}/${inner}`, bytes);
          for (const each of foldersIn(folder)) each.fixed = true;
          return folder.entries;
        },
      });
      parent.entries.set(name, folder);
    },
    /** Makes the folder and those below it read-only. */
    fix(path: string): void {
      const folder = present(place(root, path, true));
      if (folder.kind !== "folder") throw new FileError(errno.notFolder);
      for (const each of foldersIn(folder)) each.fixed = true;
    },
  };
  return api;

  function layFolder(path: string): Folder {
    let folder = root;
    for (const name of path.split("/").filter(Boolean)) {
      const found = folder.entries.get(name) ?? newFolder();
      if (found.kind !== "folder") throw new FileError(errno.notFolder);
      folder.entries.set(name, found);
      folder = found;
    }
    return folder;
  }
}

export type MemoryFiles = ReturnType<typeof createMemoryFiles>;

function* foldersIn(folder: Folder): Generator<Folder> {
  yield folder;
  for (const child of folder.entries.values()) if (child.kind === "folder") yield* foldersIn(child);
}

/** Returns true if `inner` is `folder` or below it. */
function contains(folder: Folder, inner: Folder): boolean {
  for (const each of foldersIn(folder)) if (each === inner) return true;
  return false;
}
