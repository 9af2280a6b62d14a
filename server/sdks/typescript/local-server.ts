/** Server of a data directory on this machine. */
export interface LocalServer {
  address: string;
  /** File of the certificate to trust; null if an authority signed it or there is none. */
  cacert: string | null;
  /** Test key of a server for development. */
  api_key?: string;
}

/**
 * Returns the server that runs on the data directory beside this program: `RUNNEL_DATA_DIR`, or `runnel-data` in the
 * current folder. Null if there is none, and in browsers.
 */
export function localServer(): LocalServer | null {
  const { process } = globalThis as {
    process?: {
      env?: Record<string, string | undefined>;
      getBuiltinModule?(name: string): { readFileSync(path: string, encoding: "utf8"): string } | undefined;
    };
  };
  try {
    const folder = process?.env?.RUNNEL_DATA_DIR || "runnel-data";
    const text = process?.getBuiltinModule?.("node:fs")?.readFileSync(`${folder}/server.json`, "utf8");
    const server: unknown = text === undefined ? null : JSON.parse(text);
    return isLocalServer(server) ? server : null;
  } catch {
    return null; // No server has run here, or the file belongs to another user.
  }
}

const isLocalServer = (value: unknown): value is LocalServer =>
  typeof value === "object" && value !== null && typeof (value as LocalServer).address === "string";

/** True if an address is that of this server. */
export const isAt = ({ address }: LocalServer, baseUrl: string): boolean =>
  URL.canParse(baseUrl) && new URL(address).origin === new URL(baseUrl).origin;
