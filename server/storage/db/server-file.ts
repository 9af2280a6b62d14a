import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";

/** Describes the server of a data directory to commands and clients on this machine. */
interface ServerFile {
  /** Address for clients: behind a proxy the public URL, because direct requests are refused. */
  address: string;
  /** The listener's own address, with its IP. Absent in files of older servers. */
  here?: string;
  /** Base URL of links for people. Absent in files of older servers. */
  links?: string;
  /** CA file of a certificate that no authority signed. */
  cacert: string | null;
  /** Test key of a server for development, for programs on this machine. */
  api_key?: string;
  pid: number;
  /** True if SIGUSR2 starts a successor, as `runnel restart` requests. It would kill any other process. */
  hands_over: boolean;
  /** Reason why the last successor did not start. */
  refused?: string;
}

export function writeServerFile(path: string, file: ServerFile): void {
  writeFileSync(path, `${JSON.stringify(file)}\n`, { mode: 0o600 });
}

export function readServerFile(path: string): ServerFile | null {
  try {
    return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as ServerFile) : null;
  } catch {
    return null; // Written partly before a crash; the next start rewrites it.
  }
}

export const removeServerFile = (path: string): void => rmSync(path, { force: true });
