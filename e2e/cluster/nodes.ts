import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../server/testing/free-port.ts";
import { type Postgres, sqlAt, startPostgres } from "../../server/testing/postgres.ts";
import { executable, startRunnel } from "../harness.ts";
import { waitUntil } from "../until.ts";

export const masterKey = "17".repeat(32);
export const ttl_s = 2;

/** A node of the cluster: a process that is restarted when it exits, on an empty data directory by default. */
interface Node {
  url: string;
  child: Bun.Subprocess;
  /** True if the next process keeps the data directory of this one. */
  keepsData: boolean;
  /** Data directory of the current process. */
  dataDir: string;
  /** Exit codes of its processes, the oldest first. */
  codes: (number | null)[];
  log: string;
}

export interface ClusterOptions {
  program?: string;
  environment?: Record<string, string>;
  nodes?: number;
  /** A Postgres with a standby that other clusters share under other cell names. */
  postgres?: Postgres;
  /** Failpoint where the first process of each node dies if it reaches it. */
  failpoint?: string;
  /** Comma-separated cell names: each node leads one of them, or none. */
  cell?: string;
  /** Seconds of a lease. Longer where no leader is to be replaced, because a busy machine may pause for two seconds. */
  lease_s?: number;
}

export type Cluster = Awaited<ReturnType<typeof startCluster>>;

/**
 * Starts nodes of the executable over a Postgres with a synchronous standby. The first brings the data of a single
 * machine.
 */
export async function startCluster({
  program = executable,
  nodes: count = 3,
  environment,
  ...shared
}: ClusterOptions = {}) {
  await using started = new AsyncDisposableStack();
  const postgres = shared.postgres ?? started.use(await startPostgres({ standby: true }));
  const cell = shared.cell ?? "main";
  const root = mkdtempSync(join(tmpdir(), "runnel-cluster-"));
  started.defer(() => rmSync(root, { recursive: true, force: true }));
  const first = join(root, "first");
  const keys = await startSingleMachine(first);
  let isOver = false;
  const nodes: Node[] = [];
  function launch(node: Node, port: number, dataDir: string): void {
    const flags = [
      "--cluster",
      postgres.url,
      "--cell",
      cell,
      "--cluster-ttl",
      String(shared.lease_s ?? ttl_s),
      "--insecure-http",
      "--workers",
      "1",
    ];
    const command = [program, "serve", "--port", String(port), "--data-dir", dataDir, ...flags];
    const failpoint = shared.failpoint !== undefined && node.codes.length === 0;
    const env = {
      ...(process.env as Record<string, string>),
      ...(failpoint && { RUNNEL_FAILPOINT: shared.failpoint }),
      RUNNEL_MASTER_KEY: masterKey,
      ...environment,
    };
    node.dataDir = dataDir;
    node.child = Bun.spawn(command, { env, stdin: "ignore", stdout: "ignore", stderr: Bun.file(node.log) });
    void node.child.exited.then(async () => {
      node.codes.push(node.child.exitCode);
      if (isOver) return;
      const isKept = node.keepsData;
      node.keepsData = false;
      if (!isKept) rmSync(dataDir, { recursive: true, force: true });
      await Bun.sleep(100);
      if (!isOver) launch(node, port, isKept ? dataDir : newFolder());
    });
  }

  let folders = 0;
  const newFolder = () => join(root, `data-${++folders}`);
  for (let n = 0; n < count; n++) {
    const port = freePort();
    const node = {
      url: `http://127.0.0.1:${port}`,
      codes: [],
      keepsData: false,
      log: join(root, `log-${n}`),
    } as unknown as Node;
    launch(node, port, n === 0 ? first : newFolder());
    nodes.push(node);
    // The first node seeds the cell with its data; the others have none.
    if (n === 0) await waitUntil(async () => (await leader()) === node);
  }
  started.defer(async () => {
    isOver = true;
    for (const { child } of nodes) child.kill("SIGKILL");
    await Promise.all(nodes.map(({ child }) => child.exited));
  });

  async function leader(of = cell.split(",")[0]!): Promise<Node | null> {
    const [row] = await sqlAt(
      postgres.primary.url,
      `SELECT address FROM runnel_cells WHERE id = '${of}' AND lease_until > clock_timestamp()`,
    ).catch(() => []);
    return nodes.find(({ url }) => url === row?.address) ?? null;
  }

  async function mustLead(of?: string): Promise<Node> {
    let found: Node | null = null;
    await waitUntil(async () => {
      found = await leader(of);
      return found !== null;
    });
    return found!;
  }

  const request = (url: string, path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${keys.test}`, "content-type": "application/json", ...init.headers },
    });

  /** Resolves once `least` nodes respond to a read with this key, or once `isOver`. */
  async function serves(least = 1, isOver = () => false, key = keys.test): Promise<void> {
    const headers = { authorization: `Bearer ${key}` };
    await waitUntil(async () => {
      if (isOver()) return true;
      const answers = await Promise.all(nodes.map(({ url }) => request(url, "/v1/me", { headers }).catch(() => null)));
      return answers.filter((answer) => answer?.ok).length >= least;
    });
  }

  await serves(count);
  const rest = started.move();
  return {
    nodes,
    /** Comma-separated cell names. */
    cell,
    /** Address of the Postgres. */
    url: postgres.url,
    /** Address of the Postgres that accepts writes. */
    engine: () => postgres.primary.url,
    keys,
    leader: mustLead,
    /** Returns null while there is no leader. */
    leads: leader,
    serves: (key?: string, isOver?: () => boolean) => serves(1, isOver, key),
    /** Sends a request with the test key to a node. */
    request,
    logs: () => nodes.map(({ log }) => readFileSync(log, "utf8")).join("\n"),
    /** Closes all Postgres connections of a cell's leader. */
    cut: (of: string) =>
      sqlAt(
        postgres.primary.url,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'runnel ${of}'`,
      ).catch(() => {}),
    /** Blocks every commit until the returned function is called. */
    holdCommits(): () => void {
      const { standby } = postgres;
      standby!.signal("SIGSTOP");
      return () => standby!.signal("SIGCONT");
    },
    failEngineOver: postgres.failOver,
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

/** Starts a single-machine server before it becomes a cluster: returns its keys, and lifts its limits. */
async function startSingleMachine(dataDir: string) {
  mkdirSync(dataDir, { mode: 0o700 });
  await using server = await startRunnel({ dataDir, environment: { RUNNEL_MASTER_KEY: masterKey } });
  await server.stop();
  return server.keys;
}
