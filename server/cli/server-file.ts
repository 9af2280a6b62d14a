import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";

/** How commands on this machine reach the server that runs on a data directory. */
interface ServerFile {
  /** Behind a proxy it is the public URL, since nothing else is answered. */
  address: string;
  /** The listener's own address, by number. Absent from older servers. */
  here?: string;
  /** What links for people begin with. Absent from older servers. */
  links?: string;
  /** The file to trust, for a certificate that no authority signed. */
  cacert: string | null;
  pid: number;
  /** Whether SIGUSR2 has it start its successor, which `runnel restart` asks for. It would end any other process. */
  hands_over: boolean;
  /** Why the last one did not start. */
  refused?: string;
}

export function writeServerFile(path: string, file: ServerFile): void {
  writeFileSync(path, `${JSON.stringify(file)}\n`, { mode: 0o600 });
}

export function readServerFile(path: string): ServerFile | null {
  try {
    return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as ServerFile) : null;
  } catch {
    return null; // Half written when the machine went down; the next start writes it anew.
  }
}

export const removeServerFile = (path: string): void => rmSync(path, { force: true });
