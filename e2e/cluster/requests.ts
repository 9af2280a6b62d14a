import { type CommandResult, type Json, runCommand } from "../harness.ts";
import { waitUntil } from "../until.ts";
import { type Cluster, masterKey } from "./nodes.ts";

export const cleaned = (): Record<string, string> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("RUNNEL_"))) as Record<
    string,
    string
  >;

/** Runs a command on the leader of its cell and returns its output. */
export function tryCommand(cluster: Cluster, args: string[], env: Record<string, string> = {}) {
  const all = { ...cleaned(), RUNNEL_CLUSTER: cluster.url, RUNNEL_MASTER_KEY: masterKey, RUNNEL_CELL: cluster.cell };
  return runCommand(args, { env: { ...all, ...env } });
}

/** Matches errors of a command without a leader: on a busy machine one may be replaced. */
const noLeader = /Nobody leads|has no leader|is not reached|cluster_unavailable/;

/** Retries the command until there is a leader; throws if it then fails. */
export async function command(cluster: Cluster, args: string[], env: Record<string, string> = {}): Promise<string> {
  let ended: CommandResult | null = null;
  await waitUntil(async () => {
    ended = await tryCommand(cluster, args, env);
    return !noLeader.test(ended.stderr);
  });
  const { code, stdout, stderr } = ended!;
  if (code !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
  return stdout.trim();
}

/** Retries a request until there is a leader that Postgres accepts: on a busy machine one may be replaced. */
export async function requestWithRetry(
  url: string,
  path: string,
  key: string,
  init: RequestInit = {},
): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...init.headers };
  let answer: Response | null = null;
  await waitUntil(async () => {
    answer = await fetch(`${url}${path}`, { ...init, headers }).catch(() => null);
    return answer !== null && answer.status !== 503 && !(await isUnderWay(answer));
  });
  return answer!;
}

/** True if the earlier attempt is still in progress. */
const isUnderWay = async (answer: Response): Promise<boolean> =>
  answer.status === 409 && (await answer.clone().text()).includes("idempotency_in_progress");

export async function ask(url: string, path: string, key: string, init: RequestInit = {}): Promise<Json> {
  const answer = await requestWithRetry(url, path, key, init);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${path}: ${text}`);
  return answer.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text) : text;
}

/** Performed once, though it may be repeated: the response of a replaced leader is lost. */
export const post = (url: string, path: string, key: string, body: object) =>
  ask(url, path, key, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "idempotency-key": crypto.randomUUID() },
  });

export async function bothLed(cluster: Cluster): Promise<{ main: string; east: string; spare: string }> {
  const [first, second] = cluster.cell.split(",") as [string, string];
  const main = (await cluster.leader(first)).url;
  let east = "";
  await waitUntil(async () => {
    east = (await cluster.leader(second)).url;
    const health = await fetch(`${east}/healthz`)
      .then((answer) => answer.json())
      .catch(() => null);
    return health?.status === "ok";
  });
  return { main, east, spare: cluster.nodes.find(({ url }) => url !== main && url !== east)!.url };
}
