import type { AnyElysia } from "elysia";
import type { Environment } from "../core/scope.ts";
import type { Audit } from "../db/audit.ts";
import type { Db } from "../db/open.ts";
import type { Egress, EgressPolicy } from "../lib/egress.ts";
import type { Log } from "../lib/log.ts";
import type { Seal } from "../lib/seal.ts";
import type { SandboxLevel } from "../wire/names.ts";
import type { Auth, NoLongerValid } from "./auth.ts";
import type { PublicUrl } from "./errors.ts";
import type { DoorAccess } from "./within.ts";

/** What every folder of the server is composed of. */
export interface Base {
  db: Db;
  seal: Seal;
  log: Log;
  audit: Audit;
  /** The operator's model connections and MCP servers are read from here. */
  environment: Record<string, string | undefined>;
  /** The database's file, which a thread opens to search; absent: it is in memory, and searched on this thread. */
  database?: string;
  /** The folder of the database; null where it is in memory. */
  dataDir: string | null;
  /** What holds the code of code tools. */
  sandbox: { level(): Promise<SandboxLevel>; known(): SandboxLevel | null };
  /** What users' addresses may reach, and what guards them. */
  policyOf(environment: Environment): EgressPolicy;
  egress(environment: Environment): Egress;
  /** Reaches public addresses alone, for addresses that come of whoever may start a run. */
  publicEgress: Egress;
  /** Throws `storage_full` when there is no room for new work. */
  requireRoom(fresh?: boolean): void;
  /** Where clients reach this server, without a path: what errors link to, and where webhooks are told to answer. */
  publicUrl: PublicUrl;
  /** Ends every stream: the server stops. */
  closing: AbortSignal;
  /** Ends the streams of a project, and what waits there for a run: the server stops, or the project leaves it. */
  ending(projectId: string): AbortSignal;
  now: () => number;
}

/** A folder of the server, composed. */
export interface Part {
  /** What other folders use of it. */
  ports?: unknown;
  /** Its resources, once for keys under /v1 and once for people at the dashboard. */
  routes?(auth: Auth, noLongerValid: NoLongerValid): AnyElysia[];
  /** Each within a write: deletes up to `limit` rows that have outlived their time, and returns how many those were. */
  forget?: readonly ((limit: number) => number)[];
  /** Takes up what an earlier process left unfinished. */
  start?(): unknown;
  /** A project has come from another cell: takes up what is unfinished there. */
  arrived?(): unknown;
  /** A project is about to go to another cell. Returns what forgets it, called when its rows have gone. */
  leave?(projectId: string): () => void;
  /** Ends its work; what is left is for the next start. */
  stop?(): unknown;
  /** What it notes in the database once everything has stopped. */
  noteEnd?(): Promise<void>;
}

/** Another protocol over the same API. */
export type Door = (access: DoorAccess) => AnyElysia;

/** Puts resources where they are reached, for one kind of principal. */
export type Mount = (into: AnyElysia, auth: Auth, noLongerValid: NoLongerValid) => AnyElysia;

/**
 * The resources of some folders. Straight into their place: an application within another makes each route once more,
 * which a start notices.
 */
export const mounting =
  (parts: readonly Part[]): Mount =>
  (into, auth, noLongerValid) => {
    for (const { routes } of parts) for (const its of routes?.(auth, noLongerValid) ?? []) into.use(its);
    return into;
  };
