import { networkInterfaces } from "node:os";
import { migrations } from "../../../migrations/index.ts";
import { requireValue } from "../../lib/require-value.ts";
import { secretsInUrl } from "../../lib/url-secrets.ts";
import { masterKeyId } from "../../storage/db/master-key-fingerprint.ts";
import { ClusterError } from "../../storage/replication/cluster-error.ts";
import { parseHosts } from "../../storage/replication/parse-hosts.ts";
import { exitCodes, SettingLacking, usageError } from "../commands/exit-code.ts";
import type { ListenPlan } from "../serve/listen-plan.ts";

export interface ClusterFlags {
  cluster?: string;
  cell: string;
  clusterAddress?: string;
  clusterTtl: string;
}

/** Settings of a node in a cluster. */
export interface ClusterPlan {
  url: string;
  /** Secrets in the URL, which the log must not contain. */
  passwords: string[];
  /** Cells that this node may lead. */
  cells: readonly [string, ...string[]];
  ttl_ms: number;
  masterKey: Uint8Array;
  master_key_id: string;
  version: number;
  /** Returns the origin at which other nodes reach this one, once its port is known. */
  addressOf(port: number): string;
}

/** Returns null without `--cluster`. Throws for settings with which no node can start. */
export function planCluster(flags: ClusterFlags, plan: ListenPlan, masterKey?: string): ClusterPlan | null {
  if (flags.cluster === undefined) return null;
  const [address] = parseHosts(flags.cluster);
  const cells = readCells(flags.cell);
  if (!/^\d+(\.\d+)?$/.test(flags.clusterTtl) || Number(flags.clusterTtl) < 1 || Number(flags.clusterTtl) > 60)
    throw usageError(`--cluster-ttl takes 1 to 60 seconds, not "${flags.clusterTtl}".`);
  if (flags.clusterAddress !== undefined && !/^https?:\/\/[^/?#@]+$/.test(flags.clusterAddress))
    throw usageError(`--cluster-address takes an origin such as https://10.0.0.5:8443, not "${flags.clusterAddress}".`);
  if (plan.tls !== null && typeof plan.tls === "object" && "domains" in plan.tls)
    throw usageError(
      "--domain and --cluster exclude each other: an authority asks whichever node it reaches, and each would ask for a certificate of its own. Give all nodes one by --tls-cert and --tls-key, or let a proxy end TLS.",
    );
  const key = readKey(masterKey);
  const scheme = plan.tls ? "https" : "http";
  return {
    url: flags.cluster,
    passwords: secretsInUrl(requireValue(address, "--cluster")),
    cells,
    ttl_ms: Number(flags.clusterTtl) * 1000,
    masterKey: key,
    master_key_id: masterKeyId(key),
    version: migrations.length,
    addressOf: (port) => flags.clusterAddress ?? `${scheme}://${hostOf(plan)}:${port}`,
  };
}

/** Reads `--cell`, a list of names with commas. Throws for an invalid name. */
export function readCells(text: string): [string, ...string[]] {
  const cells = [...new Set(text.split(",").map((name) => name.trim()))];
  for (const name of cells)
    if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name))
      throw usageError(`--cell takes small letters, digits and hyphens, not ${JSON.stringify(name)}.`);
  return cells as [string, ...string[]];
}

const sameKey =
  "With --cluster all nodes need the same RUNNEL_MASTER_KEY: 32 bytes as 64 hexadecimal digits, such as openssl rand -hex 32 prints.";

/** Reads RUNNEL_MASTER_KEY, which is required: a key in one node's folder would be lost with that node. */
export function readKey(text = ""): Uint8Array {
  if (text.trim() === "") throw new SettingLacking(sameKey, exitCodes.too_new);
  if (!/^[0-9a-f]{64}$/i.test(text.trim())) throw new ClusterError(sameKey);
  return Uint8Array.fromHex(text.trim());
}

function hostOf({ host }: ListenPlan): string {
  if (host !== "0.0.0.0" && host !== "::") return host.includes(":") ? `[${host}]` : host;
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return addresses.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.1";
}

/** Exit code if another node leads: the service manager restarts this process as a spare. */
export const fencedCode = exitCodes.in_use;
