/** Server of a data directory on this machine. */
interface LocalServer {
  address: string;
  /** File of the certificate to trust; null if an authority signed it or there is none. */
  cacert: string | null;
  /** Test key of a server for development. */
  api_key?: string;
}

interface Process {
  env?: Record<string, string | undefined>;
  getuid?(): number;
  kill?(pid: number, signal: 0): unknown;
  getBuiltinModule?(name: "node:fs"): {
    readFileSync(path: string, encoding: "utf8"): string;
    statSync(path: string): { uid: number; mode: number };
  };
}

const groupAndOthers = 0o077;

/**
 * Returns the server that runs on the data directory beside this program: `RUNNEL_DATA_DIR`, or `runnel-data` in the
 * current folder. Null if there is none, and in browsers.
 *
 * A key is sent to this address, so the file counts only if its server is alive and on this machine, and if only
 * this user can read the file: a folder of others, such as a cloned repository, may hold one too.
 */
export function localServer(): LocalServer | null {
  const { process } = globalThis as { process?: Process };
  try {
    const files = process?.getBuiltinModule?.("node:fs");
    if (!files) return null;
    const path = `${process?.env?.RUNNEL_DATA_DIR || "runnel-data"}/server.json`;
    const server = JSON.parse(files.readFileSync(path, "utf8")) as LocalServer & { pid: number };
    const user = process?.getuid?.();
    const { uid, mode } = files.statSync(path);
    if (user !== undefined && (uid !== user || (mode & groupAndOthers) !== 0)) return null;
    if (!isOwn(new URL(server.address).hostname)) return null;
    process?.kill?.(server.pid, 0); // Throws if there is no such process.
    return server;
  } catch {
    return null; // No server runs here, or the file is none of a server.
  }
}

/** True if the host of a URL is this machine. */
const isOwn = (host: string): boolean => /^(127\.[\d.]+|\[::1\]|(.+\.)?localhost)$/.test(host);

/** True if an address is that of this server. */
export const isAt = ({ address }: Pick<LocalServer, "address">, baseUrl: string): boolean =>
  URL.canParse(baseUrl) && new URL(address).origin === new URL(baseUrl).origin;
