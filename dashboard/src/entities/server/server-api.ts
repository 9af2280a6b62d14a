import { queryOptions } from "@tanstack/react-query";
import { get, patch, post, put, query, remove, resourceUrl } from "../../lib/api.ts";
import { type PageSearch, pageQuery } from "../../lib/page-search.ts";
import type { List } from "../../lib/types.ts";
import type { Workspace } from "../../lib/workspace.ts";
import type { Role } from "../session/use-may.ts";

/** How a provider is reached; its key is never told. */
export interface Connection {
  id: string;
  name: string;
  provider: string;
  base_url: string | null;
  /** How many calls its server takes at once; null: as many as come. */
  max_concurrent: number | null;
  /** Those of the environment are changed where the server is started. */
  source: "environment" | "stored";
  /** What its models' names begin with. */
  prefix: string;
  /** False for one of the environment that a stored one goes before. */
  used: boolean;
  created_at: string | null;
}

/** What one tiny request to a provider came to. */
export interface Tried {
  ok: boolean;
  model: string | null;
  latency_ms: number;
  output: string | null;
  usage: { input_tokens: number | null; output_tokens: number | null } | null;
  error: { code: string; message: string } | null;
}

interface NewConnection {
  name: string;
  provider: string;
  base_url: string | null;
  api_key: string | null;
  max_concurrent: number | null;
}

/** What a model costs, in USD per million tokens. */
export interface Price {
  /** The model's full name, or `ollama/*` for all of a server. */
  id: string;
  available: boolean;
  context_window: number | null;
  input: number;
  cached_input: number;
  output: number;
  as_of: string | null;
  source: "built_in" | "operator";
}

interface NewPrice extends Pick<Price, "input" | "cached_input" | "output" | "context_window"> {
  model: string;
}

export interface Person {
  id: string;
  email: string;
  role: Role;
  created_at: string;
  last_seen_at: string | null;
}

export interface Invitation {
  id: string;
  email: string;
  role: Role;
  created_at: string;
  expires_at: string;
}

export interface AuditEntry {
  id: string;
  action: string;
  actor: { type: "api_key" | "user" | "cli"; id: string; ip: string | null };
  target: { type: string; id: string } | null;
  details: Record<string, unknown>;
  request_id: string | null;
  created_at: string;
  /** Null for what concerns the whole server. */
  project_id: string | null;
  environment: "test" | "live" | null;
}

export type SandboxLevel = "strict" | "process" | "off";

export interface ServerInfo {
  version: string;
  commit: string;
  built_at: string | null;
  started_at: string;
  /** Null while it is being tested. */
  sandbox_level: SandboxLevel | null;
  data_dir: string | null;
  database_bytes: number | null;
  free_bytes: number | null;
  disk_bytes: number | null;
}

export interface Backup {
  id: string;
  filename: string;
  bytes: number;
  version: number;
  created_at: string;
  expires_at: string;
}

type ListOf<T> = { data: T[] };
const listQuery = <T>(name: string) =>
  queryOptions({
    queryKey: [name],
    queryFn: async ({ signal }) => (await get<ListOf<T>>(`/console/api/${name}`, signal)).data,
  });

export const connectionsQuery = listQuery<Connection>("connections");
export const pricesQuery = listQuery<Price>("prices");
export const peopleQuery = listQuery<Person>("people");
export const invitationsQuery = listQuery<Invitation>("invitations");

/** Asked again until the sandbox is known. */
export const serverQuery = queryOptions({
  queryKey: ["server"],
  queryFn: ({ signal }) => get<ServerInfo>("/console/api/server", signal),
  refetchInterval: ({ state }) => (state.data?.sandbox_level === null ? 1000 : false),
});

interface AuditSearch extends PageSearch {
  action?: string;
  actor?: string;
  target?: string;
  request?: string;
}

/** A page of the audit log. */
export const auditQuery = (at: Workspace, { action, actor, target, request, ...page }: AuditSearch) =>
  queryOptions({
    queryKey: ["audit", at.projectId, at.mode, action, actor, target, request, page.after, page.before],
    queryFn: ({ signal }) => {
      const filters = query({
        limit: 50,
        action,
        actor_id: actor,
        target_id: target,
        request_id: request,
        ...pageQuery(page),
      });
      return get<List<AuditEntry>>(resourceUrl(at, `/audit_log${filters}`), signal);
    },
  });

export const addConnection = (body: NewConnection): Promise<Connection> => post("/console/api/connections", body);
export const removeConnection = (name: string): Promise<unknown> => remove(`/console/api/connections/${name}`);
export const testConnection = (name: string, model: string): Promise<Tried> =>
  post(`/console/api/connections/${name}/test`, model ? { model } : {});

export const setPrice = (body: NewPrice): Promise<unknown> => put("/console/api/prices", body);
export const resetPrice = (model: string): Promise<unknown> => post("/console/api/prices/reset", { model });

export const invite = (body: { email: string; role: Role }): Promise<Invitation & { token: string }> =>
  post("/console/api/invitations", body);
export const withdraw = (id: string): Promise<unknown> => remove(`/console/api/invitations/${id}`);
export const setRole = (id: string, role: Role): Promise<Person> => patch(`/console/api/people/${id}`, { role });
export const removePerson = (id: string): Promise<unknown> => remove(`/console/api/people/${id}`);

export const makeBackup = (): Promise<Backup> => post("/console/api/backups");
export const backupUrl = (id: string): string => `/console/api/backups/${id}`;
