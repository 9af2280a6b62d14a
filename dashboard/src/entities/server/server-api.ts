import { queryOptions } from "@tanstack/react-query";
import type {
  ChangedConnection,
  ConnectionTest,
  NewConnection,
  NewPrice,
  NewPriceTable,
} from "../../../../server/dashboard-api/schema.ts";
import type { AuditEntry } from "../../../../server/domain/api-types/audit.ts";
import type {
  Backup,
  ClusterInfo,
  Connection,
  ConnectionCheck,
  ConnectionConsent,
  Invitation,
  Person,
  Price,
  PriceTable,
  ServerInfo,
  Tried,
} from "../../../../server/domain/api-types/console.ts";
import type { Role } from "../../../../server/domain/api-types/enums.ts";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import { ApiError, get, patch, post, postLines, put, query, remove, resourceUrl } from "../../lib/api.ts";
import { type PageSearch, pageQuery } from "../../lib/page-search.ts";
import type { Workspace } from "../../lib/workspace.ts";

type ListOf<T> = { data: T[] };
const listQuery = <T>(name: string) =>
  queryOptions({
    queryKey: [name],
    queryFn: async ({ signal }) => (await get<ListOf<T>>(`/console/api/${name}`, signal)).data,
  });

/** Refetched while the models of a connection are being read. */
export const connectionsQuery = queryOptions({
  ...listQuery<Connection>("connections"),
  refetchInterval: ({ state }) => (state.data?.some(({ models }) => models?.reading) ? 1000 : false),
});
export const pricesQuery = listQuery<Price>("prices");
export const priceTableQuery = queryOptions({
  queryKey: ["price_table"],
  queryFn: ({ signal }) => get<PriceTable>("/console/api/price_table", signal),
});
export const peopleQuery = listQuery<Person>("people");
export const invitationsQuery = listQuery<Invitation>("invitations");

/** Refetched until the state of the sandbox is known. */
export const serverQuery = queryOptions({
  queryKey: ["server"],
  queryFn: ({ signal }) => get<ServerInfo>("/console/api/server", signal),
  refetchInterval: ({ state }) => (state.data?.sandbox_level === null ? 1000 : false),
});

/** Refetched, because the leader may change at any time. */
export const clusterQuery = queryOptions({
  queryKey: ["cluster"],
  queryFn: ({ signal }) => get<ClusterInfo>("/console/api/cluster", signal),
  refetchInterval: 3000,
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
/** Returns the address at which a person consents to a connection. */
export const authorizeConnection = (name: string): Promise<ConnectionConsent> =>
  post(`/console/api/connections/${name}/authorize`);
export const removeConnection = (name: string): Promise<unknown> => remove(`/console/api/connections/${name}`);
export const changeConnection = (name: string, body: ChangedConnection): Promise<Connection> =>
  patch(`/console/api/connections/${name}`, body);

type TestLine = { check: ConnectionCheck } | { result: Tried } | { error: { code: string; message: string } };

/** Tests a connection; `onCheck` is called for each check as it is done. */
export async function testConnection(
  name: string,
  body: ConnectionTest,
  onCheck: (check: ConnectionCheck) => void,
  signal: AbortSignal,
): Promise<Tried> {
  let result: Tried | null = null;
  const onLine = (line: TestLine): void => {
    if ("check" in line) onCheck(line.check);
    else if ("result" in line) result = line.result;
    else throw new ApiError(0, line.error.code, line.error.message);
  };
  await postLines(`/console/api/connections/${name}/test`, body, onLine, signal);
  if (!result) throw new ApiError(0, "unreachable", "The test ended without a result.");
  return result;
}

export const setPrice = (body: NewPrice): Promise<unknown> => put("/console/api/prices", body);
export const resetPrice = (model: string): Promise<unknown> => post("/console/api/prices/reset", { model });

export const loadPrices = (body: NewPriceTable): Promise<PriceTable> => put("/console/api/price_table", body);
export const restorePrices = (): Promise<PriceTable> => post("/console/api/price_table/reset");

export const invite = (body: { email: string; role: Role }): Promise<Invitation & { token: string }> =>
  post("/console/api/invitations", body);
export const withdraw = (id: string): Promise<unknown> => remove(`/console/api/invitations/${id}`);
export const setRole = (id: string, role: Role): Promise<Person> => patch(`/console/api/people/${id}`, { role });
export const removePerson = (id: string): Promise<unknown> => remove(`/console/api/people/${id}`);

export const makeBackup = (): Promise<Backup> => post("/console/api/backups");
export const backupUrl = (id: string): string => `/console/api/backups/${id}`;
