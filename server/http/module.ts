import type { AnyElysia } from "elysia";
import type { SandboxLevel } from "../domain/api-types/enums.ts";
import type { Environment } from "../domain/scope.ts";
import type { Egress, EgressPolicy } from "../lib/egress.ts";
import type { Log } from "../lib/log.ts";
import type { Seal } from "../lib/seal.ts";
import type { SystemPython } from "../runtime/sandbox/system-python.ts";
import type { Audit } from "../storage/db/audit.ts";
import type { Db } from "../storage/db/open.ts";
import type { Auth, NoLongerValid } from "./auth.ts";
import type { PublicUrl } from "./errors.ts";
import type { ProtocolAccess } from "./internal-client.ts";

/** Dependencies shared by all modules. */
export interface Base {
  db: Db;
  seal: Seal;
  log: Log;
  audit: Audit;
  /** Environment variables with the operator's model connections and MCP servers. */
  environment: Record<string, string | undefined>;
  /** Path of the database file, which a search thread opens. Absent: in memory, searched on the main thread. */
  database?: string;
  /** Folder of the database; null if it is in memory. */
  dataDir: string | null;
  /** Sandbox for code tools. */
  sandbox: {
    level(): Promise<SandboxLevel>;
    known(): SandboxLevel | null;
    /** The operator's interpreter for Python; null: the built-in one. */
    python: SystemPython | null;
  };
  /** Egress rules for addresses that users configure. */
  policyOf(environment: Environment): EgressPolicy;
  egress(environment: Environment): Egress;
  /** Allows public addresses only, for URLs supplied by clients that may start runs. */
  publicEgress: Egress;
  /** Throws `storage_full` if there is no room for new work. */
  requireRoom(fresh?: boolean): void;
  /** Base URL of this server without a path, for links in errors and callback URLs in webhooks. */
  publicUrl: PublicUrl;
  /** Aborted when the server stops; ends every stream. */
  closing: AbortSignal;
  /** Aborted when the server stops or the project leaves; ends the project's streams and waiting requests. */
  abortSignalOf(projectId: string): AbortSignal;
  now: () => number;
}

/** A module of the server, with the hooks that the server calls. */
export interface Module {
  /** Everything else is for the modules that use it. */
  [name: string]: unknown;
  /** Creates its routes: once for keys under /v1, once for the dashboard. */
  routes?(auth: Auth, noLongerValid: NoLongerValid): AnyElysia[];
  /** Call inside a write. Each deletes up to `limit` expired rows and returns their number. */
  deleteExpired?: readonly ((limit: number) => number)[];
  /** Resumes unfinished work of an earlier process. */
  start?(): unknown;
  /** Resumes unfinished work of a project that arrived from another cell. */
  onProjectArrived?(): unknown;
  /** Called before a project moves to another cell. The returned function is called once its rows have left. */
  onProjectLeaving?(projectId: string): () => void;
  /** Stops its work; the rest is resumed at the next start. */
  stop?(): unknown;
  /** Records the shutdown in the database after all modules stopped. */
  recordShutdown?(): Promise<void>;
}

/** Another protocol over the same API. */
export type ProtocolPlugin = (access: ProtocolAccess) => AnyElysia;

/** Mounts routes for one kind of principal. */
export type Mount = (into: AnyElysia, auth: Auth, noLongerValid: NoLongerValid) => AnyElysia;

/**
 * Mounts the routes of some modules. Directly, because a nested Elysia app would compile each route twice, which slows
 * the start.
 */
export const createMount =
  (parts: readonly Module[]): Mount =>
  (into, auth, noLongerValid) => {
    for (const { routes } of parts) for (const its of routes?.(auth, noLongerValid) ?? []) into.use(its);
    return into;
  };
