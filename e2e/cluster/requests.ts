import { type Json, runCommand } from "../harness.ts";
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

/** The same, where it has to succeed. */
export async function command(cluster: Cluster, args: string[], env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await tryCommand(cluster, args, env);
  if (code !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
  return stdout.trim();
}

/** What a node answers, once there is a leader whom the engine answers: on a machine that is busy one may be replaced. */
export async function answered(url: string, path: string, key: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...init.headers };
  let answer: Response | null = null;
  await until(async () => {
    answer = await fetch(`${url}${path}`, { ...init, headers }).catch(() => null);
    return answer !== null && answer.status !== 503;
  });
  return answer!;
}

export async function ask(url: string, path: string, key: string, init: RequestInit = {}): Promise<Json> {
  const answer = await answered(url, path, key, init);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${path}: ${text}`);
  return answer.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text) : text;
}

export const post = (url: string, path: string, key: string, body: object) =>
  ask(url, path, key, { method: "POST", body: JSON.stringify(body) });

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
