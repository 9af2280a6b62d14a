import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../server/testing/free-port.ts";
import { type Postgres, sqlAt, startPostgres } from "../../server/testing/postgres.ts";
import { executable, startRunnel } from "../harness.ts";
import { until } from "../until.ts";

export const masterKey = "17".repeat(32);
export const ttl_s = 2;

/** A node of the cluster: a process that is started again when it ends, on an empty data directory if nobody says otherwise. */
interface Node {
  url: string;
  child: Bun.Subprocess;
  /** Whether the next process finds what this one leaves behind. */
  keepsData: boolean;
  /** Of the process that runs now. */
  dataDir: string;
  /** What its processes ended with, the oldest first. */
  codes: (number | null)[];
  log: string;
}

export interface ClusterOptions {
  program?: string;
  environment?: Record<string, string>;
  nodes?: number;
  /** One with a standby that others use too, by cells of other names. */
  postgres?: Postgres;
  /** Where the first process of each node dies, if it comes there. */
  failpoint?: string;
  /** Names with commas: each node leads one of them, or none. */
  cell?: string;
  /** How long a lease lasts. Longer where no leader is to be replaced: a busy machine may pause for two seconds. */
  lease_s?: number;
}

export type Cluster = Awaited<ReturnType<typeof startCluster>>;

/** Nodes of the executable over a Postgres with a synchronous standby. The first brings along what one machine had. */
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
  const keys = await beforeCluster(first);
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
    // The first begins the cell with what it has; the others would begin it with nothing.
    if (n === 0) await until(async () => (await leader()) === node);
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
    await until(async () => {
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

  /** Settles once so many nodes answer a read with this key, or nobody wants to know any more. */
  async function serves(least = 1, isOver = () => false, key = keys.test): Promise<void> {
    const headers = { authorization: `Bearer ${key}` };
    await until(async () => {
      if (isOver()) return true;
      const answers = await Promise.all(nodes.map(({ url }) => request(url, "/v1/me", { headers }).catch(() => null)));
      return answers.filter((answer) => answer?.ok).length >= least;
    });
  }

  await serves(count);
  const rest = started.move();
  return {
    nodes,
    /** Their names, with commas. */
    cell,
    /** Of the Postgres. */
    url: postgres.url,
    /** Where it takes writes. */
    engine: () => postgres.primary.url,
    keys,
    leader: mustLead,
    /** Null while nobody leads. */
    leads: leader,
    serves: (key?: string, isOver?: () => boolean) => serves(1, isOver, key),
    /** A request with the test key to a node. */
    request,
    logs: () => nodes.map(({ log }) => readFileSync(log, "utf8")).join("\n"),
    /** Closes all connections of a cell's leader to the engine. */
    cut: (of: string) =>
      sqlAt(
        postgres.primary.url,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'runnel ${of}'`,
      ).catch(() => {}),
    /** Lets every commit wait, until it is called again. */
    holdCommits(): () => void {
      const { standby } = postgres;
      standby!.signal("SIGSTOP");
      return () => standby!.signal("SIGCONT");
    },
    failEngineOver: postgres.failOver,
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

/** A server of one machine before it becomes a cluster: it tells its keys, and its limits are lifted. */
async function beforeCluster(dataDir: string) {
  mkdirSync(dataDir, { mode: 0o700 });
  await using server = await startRunnel({ dataDir, environment: { RUNNEL_MASTER_KEY: masterKey } });
  await server.stop();
  return server.keys;
}
