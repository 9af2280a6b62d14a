import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../server/testing/free-port.ts";
import { sqlAt } from "../../server/testing/postgres.ts";
import { waitUntil } from "../until.ts";

/**
 * Address of the Postgres that runs the single-machine suites against a cluster: `RUNNEL_E2E_CLUSTER=1 npm run e2e`.
 */
const postgresUrl = process.env.RUNNEL_E2E_CLUSTER;

/** True if suites send their requests to a node that leads nothing. */
export const usesSpare = postgresUrl !== undefined;

interface Spare {
  child: Bun.Subprocess;
  url: string;
}

interface Launch {
  program: string;
  flags: readonly string[];
  cwd: string;
  env: Record<string, string>;
  /** Port that clients use. */
  port: number;
  /** Address of the leader, and its data directory. */
  leader: string;
  leaderDir: string;
}

// Longer than a busy machine may pause a process: no suite is about a leader that loses its cell.
const ttl = ["--cluster-ttl", "30"];

/** Returns null if suites use a single machine. */
export function createCell(environment: Record<string, string>) {
  if (!postgresUrl) return null;
  const cell = `e2e-${crypto.randomUUID().slice(0, 8)}`; // A process runs several suites, each with its own modules.
  const own = {
    RUNNEL_CLUSTER: postgresUrl,
    RUNNEL_CELL: cell,
    RUNNEL_MASTER_KEY: environment.RUNNEL_MASTER_KEY ?? "18".repeat(32),
  };
  const root = mkdtempSync(join(tmpdir(), "runnel-spare-"));
  let folders = 0;
  return {
    /** Environment of nodes and commands. */
    environment: own,
    /** Releases the lease, so that the next leader need not wait: the previous one was killed. */
    async free(): Promise<void> {
      const free = `UPDATE runnel_cells SET lease_until = '-infinity' WHERE id = '${cell}'`;
      await sqlAt(postgresUrl!, free).catch(() => {}); // The table may not exist yet.
    },
    /** Returns the flags of a leader whose spare listens on this port. */
    leaderFlags(flags: readonly string[], port: number): string[] {
      const scheme = flags.includes("--insecure-http") ? "http" : "https";
      const isPublic = flags.includes("--public-url") ? [] : ["--public-url", `${scheme}://127.0.0.1:${port}`];
      return [...withoutPort(flags), ...isPublic, ...ttl];
    },
    /** Returns the spare's port: the one that these flags name for a server. */
    portOf: (flags: readonly string[]): number => Number(flags[flags.indexOf("--port") + 1] ?? 0) || freePort(),
    /** Starts a spare that follows the leader and forwards requests to it. They share one certificate. */
    async startSpare({ program, flags, cwd, env, port, leader, leaderDir }: Launch): Promise<Spare> {
      const dataDir = join(root, `data-${++folders}`);
      mkdirSync(dataDir, { mode: 0o700 });
      const log = join(root, `log-${folders}`);
      const { protocol, hostname } = new URL(leader);
      const own = ["cert", "key"].flatMap((part) => [`--tls-${part}`, join(leaderDir, "tls", `${part}.pem`)]);
      const certificate = protocol === "https:" && !flags.includes("--tls-cert") ? own : [];
      const command = [program, "serve", "--port", String(port), "--data-dir", dataDir];
      const child = Bun.spawn([...command, ...withoutPort(flags), ...certificate, ...ttl], {
        cwd,
        env,
        stdin: "ignore",
        stdout: "ignore",
        stderr: Bun.file(log),
      });
      const url = `${protocol}//${hostname}:${port}`;
      const options = { tls: { rejectUnauthorized: false } };
      await waitUntil(async () => {
        if (child.exitCode !== null) throw new Error(`The spare ended: ${readFileSync(log, "utf8")}`);
        const answer = await fetch(`${url}/healthz`, options).catch(() => null);
        return answer !== null && (await answer.json()).status === "spare";
      });
      return { child, url };
    },
    forget: () => rmSync(root, { recursive: true, force: true }),
  };
}

const withoutPort = (flags: readonly string[]): string[] =>
  flags.filter((flag, at) => flag !== "--port" && flags[at - 1] !== "--port");
