import { type Ended, type Json, runCommand } from "../harness.ts";
import { until } from "../until.ts";
import { type Cluster, masterKey } from "./nodes.ts";

export const cleaned = (): Record<string, string> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("RUNNEL_"))) as Record<
    string,
    string
  >;

/** The output of a command, run by the leader of the cell that it is for. */
export function tryCommand(cluster: Cluster, args: string[], env: Record<string, string> = {}) {
  const all = { ...cleaned(), RUNNEL_CLUSTER: cluster.url, RUNNEL_MASTER_KEY: masterKey, RUNNEL_CELL: cluster.cell };
  return runCommand(args, { env: { ...all, ...env } });
}

/** What says that there was no leader to run a command: on a machine that is busy one may be replaced. */
const noLeader = /Nobody leads|has no leader|is not reached|cluster_unavailable/;

/** The same, where it has to succeed once there is a leader. */
export async function command(cluster: Cluster, args: string[], env: Record<string, string> = {}): Promise<string> {
  let ended: Ended | null = null;
  await until(async () => {
    ended = await tryCommand(cluster, args, env);
    return !noLeader.test(ended.stderr);
  });
  const { code, stdout, stderr } = ended!;
  if (code !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
  return stdout.trim();
}

/** What a node answers, once there is a leader whom the engine answers: on a machine that is busy one may be replaced. */
export async function answered(url: string, path: string, key: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...init.headers };
  let answer: Response | null = null;
  await until(async () => {
    answer = await fetch(`${url}${path}`, { ...init, headers }).catch(() => null);
    return answer !== null && answer.status !== 503 && !(await isUnderWay(answer));
  });
  return answer!;
}

/** Asked again while the first time is still at work. */
const isUnderWay = async (answer: Response): Promise<boolean> =>
  answer.status === 409 && (await answer.clone().text()).includes("idempotency_in_progress");

export async function ask(url: string, path: string, key: string, init: RequestInit = {}): Promise<Json> {
  const answer = await answered(url, path, key, init);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${path}: ${text}`);
  return answer.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text) : text;
}

/** Done once, though it may be asked again: the answer of a leader that is replaced is lost. */
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
  await until(async () => {
    east = (await cluster.leader(second)).url;
    const health = await fetch(`${east}/healthz`)
      .then((answer) => answer.json())
      .catch(() => null);
    return health?.status === "ok";
  });
  return { main, east, spare: cluster.nodes.find(({ url }) => url !== main && url !== east)!.url };
}
