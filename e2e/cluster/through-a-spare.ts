import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../server/testing/free-port.ts";
import { sqlAt } from "../../server/testing/postgres.ts";
import { until } from "../until.ts";

/** The Postgres of suites that meet a cluster where else they meet one machine; `RUNNEL_E2E_CLUSTER=1 npm run e2e` says it. */
const engine = process.env.RUNNEL_E2E_CLUSTER;

/** Whether a suite meets a node that leads nothing. */
export const throughNode = engine !== undefined;

interface Spare {
  child: Bun.Subprocess;
  url: string;
}

interface Launch {
  program: string;
  flags: readonly string[];
  cwd: string;
  env: Record<string, string>;
  /** The port that clients use. */
  port: number;
  /** The address of the leader, and the folder of its data. */
  leader: string;
  leaderDir: string;
}

// Longer than a busy machine forgets a process for: no suite is about a leader that loses its cell.
const ttl = ["--cluster-ttl", "30"];

/** Null where suites meet one machine. */
export function createCell(environment: Record<string, string>) {
  if (!engine) return null;
  const cell = `e2e-${crypto.randomUUID().slice(0, 8)}`; // A process runs several suites, each with modules of its own.
  const own = {
    RUNNEL_CLUSTER: engine,
    RUNNEL_CELL: cell,
    RUNNEL_MASTER_KEY: environment.RUNNEL_MASTER_KEY ?? "18".repeat(32),
  };
  const root = mkdtempSync(join(tmpdir(), "runnel-spare-"));
  let folders = 0;
  return {
    /** What nodes and commands find in their environment. */
    environment: own,
    /** Lets the next leader lead at once: the one before was killed. */
    async free(): Promise<void> {
      const free = `UPDATE runnel_cells SET lease_until = '-infinity' WHERE id = '${cell}'`;
      await sqlAt(engine!, free).catch(() => {}); // Nobody has made the table yet.
    },
    /** What a leader is started with whose spare is met at this port. */
    leaderFlags(flags: readonly string[], port: number): string[] {
      const scheme = flags.includes("--insecure-http") ? "http" : "https";
      const isPublic = flags.includes("--public-url") ? [] : ["--public-url", `${scheme}://127.0.0.1:${port}`];
      return [...withoutPort(flags), ...isPublic, ...ttl];
    },
    /** Where the spare is met: where these flags say that a server should be. */
    portOf: (flags: readonly string[]): number => Number(flags[flags.indexOf("--port") + 1] ?? 0) || freePort(),
    /** Starts a node that follows the leader, and passes on what it is asked. They have one certificate. */
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
      await until(async () => {
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
