import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";

/** Postgres on this machine, optionally with a synchronous standby. */
export interface Postgres {
  /** URL with the hosts of the primary and then the standby: a client tries one after the other. */
  url: string;
  readonly primary: PostgresServer;
  readonly standby: PostgresServer | null;
  /** Crashes the primary and promotes its standby; the crashed server is the standby from then on. */
  failOver(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface PostgresServer {
  url: string;
  folder: string;
  process: Bun.Subprocess;
  /** Kills the server immediately, as a crash would. No-op if it is dead. */
  kill(): Promise<void>;
  /** Pauses or resumes the server: its clients get no answer meanwhile. */
  signal(name: "SIGSTOP" | "SIGCONT"): void;
  /** Requires a password for this user; other users need none. */
  requirePasswordOf(user: string): Promise<void>;
  /** Restarts the server after a kill. */
  start(): Promise<void>;
}

const programs = "/usr/lib/postgresql";
const patience_ms = 30_000;

/** Returns the folder of Debian's Postgres programs, or null if they are not installed. */
function findPrograms(): string | null {
  const versions = existsSync(programs) ? readdirSync(programs).filter((name) => /^\d+$/.test(name)) : [];
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  return newest ? join(programs, newest, "bin") : null;
}

const bin = findPrograms();

/** Postgres refuses to run as root. */
const asUser = (command: string[]): string[] =>
  process.getuid?.() === 0
    ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", ...command]
    : command;

async function run(command: string[]): Promise<void> {
  const child = Bun.spawn(asUser(command), { cwd: "/", stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [, complaint, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${command[0]} failed: ${complaint}`);
}

const base = ["listen_addresses = '127.0.0.1'", "unix_socket_directories = ''", "max_connections = 60"];

/**
 * Starts a Postgres on loopback that syncs every commit to disk; with `standby`, a commit is acknowledged once both
 * have it.
 */
export async function startPostgres({ standby = false } = {}): Promise<Postgres> {
  if (!bin) throw new Error("Postgres is not installed.");
  const root = mkdtempSync(join(tmpdir(), "runnel-postgres-"));
  chmodSync(root, 0o755);
  const folders = [join(root, "primary"), join(root, "standby")] as const;
  if (process.getuid?.() === 0) chownSync(root, ...userIds());
  const ports = [freePort(), freePort()] as const;
  await run([join(bin, "initdb"), "--pgdata", folders[0], "--auth=trust", "--username=runnel", "--no-sync"]);
  let primary = await startServer(folders[0], ports[0]);
  let copy: PostgresServer | null = null;

  const copyTo = (folder: string) =>
    run([join(bin, "pg_basebackup"), "-d", primary.url, "-D", folder, "-R", "-X", "stream", "-c", "fast"]);

  async function waitForCopies(setting: string): Promise<void> {
    await sqlAt(primary.url, `ALTER SYSTEM ${setting}`);
    await sqlAt(primary.url, "SELECT pg_reload_conf()");
  }

  /** Makes every commit wait for the standby from now on. */
  async function keepInStep(): Promise<void> {
    await waitForCopies("SET synchronous_standby_names = '*'");
    const states = "SELECT count(*)::int AS n FROM pg_stat_replication WHERE sync_state = 'sync'";
    await until(async () => (await sqlAt(primary.url, states))[0]?.n === 1);
  }

  if (standby) {
    await copyTo(folders[1]);
    copy = await startServer(folders[1], ports[1]);
    await keepInStep();
  }
  const hosts = [ports[0], ...(standby ? [ports[1]] : [])].map((port) => `127.0.0.1:${port}`);
  return {
    url: `postgres://runnel@${hosts.join(",")}/postgres`,
    get primary() {
      return primary;
    },
    get standby() {
      return copy;
    },
    async failOver() {
      if (!copy) throw new Error("There is no standby.");
      await primary.kill();
      [primary, copy] = [copy, primary];
      await sqlAt(primary.url, "SELECT pg_promote(true)");
      await waitForCopies("RESET synchronous_standby_names"); // The copy inherited the setting from its primary.
      rmSync(copy.folder, { recursive: true });
      await copyTo(copy.folder);
      await copy.start();
      await keepInStep();
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([primary.kill(), copy?.kill()]);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

startPostgres.available = bin !== null;

/** Returns false if Postgres is not installed, after logging which tests are skipped. */
startPostgres.orSkipped = (what: string): boolean => {
  if (bin === null) console.warn(`SKIPPED: ${what}: Debian's postgresql is not installed`);
  return bin !== null;
};

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);

/** Signals a process that may have ended by itself: a backend does when its client disconnects. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function userIds(): [uid: number, gid: number] {
  const id = (flag: string) => Number(Bun.spawnSync(["id", flag, "postgres"]).stdout.toString());
  return [id("-u"), id("-g")];
}

async function startServer(folder: string, port: number): Promise<PostgresServer> {
  const url = `postgres://runnel@127.0.0.1:${port}/postgres`;
  const settings = [...base, `port = ${port}`].flatMap((line) => ["-c", line.replace(" = ", "=").replaceAll("'", "")]);
  const launch = () =>
    Bun.spawn(asUser([join(bin!, "postgres"), "-D", folder, ...settings]), {
      cwd: "/",
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    });
  const processes = () => [server.process.pid, ...childrenOf(server.process.pid)];
  const server: PostgresServer = {
    url,
    folder,
    process: launch(),
    async kill() {
      if (server.process.exitCode !== null || server.process.signalCode !== null) return;
      // Postgres's children would continue their statements until they notice the death.
      const all = processes();
      for (const pid of all) signal(pid, "SIGKILL");
      await server.process.exited;
      await until(async () => !all.some((pid) => existsSync(`/proc/${pid}`)));
    },
    signal(name) {
      signal(server.process.pid, name); // Stop the parent first: it forks no more children while it is paused.
      for (const pid of childrenOf(server.process.pid)) signal(pid, name);
    },
    async requirePasswordOf(user) {
      const rules = join(folder, "pg_hba.conf");
      writeFileSync(rules, `host all ${user} all scram-sha-256\n${readFileSync(rules, "utf8")}`);
      await sqlAt(url, "SELECT pg_reload_conf()");
      await until(
        async () => (await sqlAt(url, "SELECT 1 FROM pg_hba_file_rules WHERE auth_method LIKE 'scram%'")).length > 0,
      );
    },
    async start() {
      server.process = launch();
      await until(async () => (await sqlAt(url, "SELECT 1")).length === 1);
    },
  };
  await until(async () => (await sqlAt(url, "SELECT 1")).length === 1);
  return server;
}

// biome-ignore lint/suspicious/noExplicitAny: rows of any statement.
export async function sqlAt(url: string, statement: string): Promise<any[]> {
  const sql = new Bun.SQL({ url, max: 1, connectionTimeout: 30 });
  try {
    return await sql.unsafe(statement);
  } finally {
    await sql.close({ timeout: 0 }).catch(() => {});
  }
}

async function until(ask: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + patience_ms;
  while (!(await ask().catch(() => false))) {
    if (performance.now() > end) throw new Error("Postgres does not get there.");
    await Bun.sleep(50);
  }
}
