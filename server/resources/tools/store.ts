import { Value } from "@sinclair/typebox/value";
import type { AgentChoice } from "../../domain/agent-label.ts";
import { type ToolSnapshot, type ToolType, toolTypes } from "../../domain/agent-snapshot.ts";
import type { SandboxLevel } from "../../domain/api-types/enums.ts";
import { changeable } from "../../domain/api-types/schema.ts";
import { AppError, type Fault } from "../../domain/errors.ts";
import type { OpenApiOrigin } from "../../domain/http-request.ts";
import { newId } from "../../domain/ids.ts";
import type { Environment, Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import { fault, invalid, throwIfInvalid } from "../../http/errors.ts";
import { listPage, type Page } from "../../http/page.ts";
import { writeOrTry } from "../../http/set-by-name.ts";
import { createNameValidator } from "../../http/validate-name.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import type { Egress } from "../../lib/egress.ts";
import { checkSchema } from "../../lib/json-schema.ts";
import type { Seal } from "../../lib/seal.ts";
import { newSigningSecret } from "../../lib/signature.ts";
import type { SystemPython } from "../../runtime/sandbox/system-python.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import { tools } from "../../storage/db/schema.ts";
import { columnsOf, createReader, createScopedTable } from "../../storage/db/scoped-table.ts";
import { checkAddress, checksOnce } from "./address.ts";
import { changed, parametersOf } from "./definition.ts";
import { checkOrigin, queryFaults, secretFaults, secretsIn, unmasked } from "./headers.ts";
import { createMcpLists, type ListTools, type TokenFor } from "./mcp-lists.ts";
import { definitionOf, type Row, serverOf } from "./row.ts";
import type { CreateTool, SyncTool, ToolSync, UpdateTool } from "./schema.ts";
import { openToolSecrets, resolveToolSecrets, sealToolSecrets } from "./secrets.ts";
import { freeName, mcpSnapshot, type PinnedTools, pinTools, snapshotOf } from "./snapshots.ts";
import { masked } from "./types/fields.ts";
import { offered } from "./types/mcp.ts";
import {
  commonFields,
  type Definition,
  type Known,
  type Listing,
  type ToolInput,
  type ToolKind,
} from "./types/tool-kind.ts";
import { toolKinds, typeFields } from "./types/tool-kinds.ts";

interface ToolStoreOptions extends StoreBase {
  seal: Seal;
  /** Egress guard for addresses that clients of this environment give. */
  egress: (environment: Environment) => Egress;
  secrets: { has(scope: Scope, name: string): boolean; value(scope: Scope, name: string): string | null };
  /** True if the viewer has such an agent. */
  hasAgent: (viewer: Viewer, id: string) => boolean;
  /** Returns the agent and the version that a request names. Throws unless each of them exists. */
  resolveAgent: ResolveAgent;
  /** File facts in the order of the ids. Throws with a fault for each one that the viewer does not see. */
  fileFacts: (viewer: Viewer, ids: readonly string[], param: string) => readonly { filename: string }[];
  /** True if the operator configured an MCP server of this name (`stdio:<name>`). */
  hasStdioServer: (name: string) => boolean;
  /** Sandbox level of this machine, known shortly after the start. */
  sandboxLevel: () => Promise<SandboxLevel>;
  /** The operator's interpreter for Python; null: the built-in one. */
  python: SystemPython | null;
  listTools: ListTools;
  oauth: ToolOAuth;
}

/** OAuth clients of tools. */
interface ToolOAuth {
  hasClient(scope: Scope, id: string): boolean;
  /** True if each user has an own grant, so that nothing can be requested without one. */
  isPerUser(scope: Scope, id: string): boolean;
  /** Returns the client of an MCP server, which is discovered and registered the first time. */
  clientFor(
    author: Author,
    order: { name: string; server_url: string; per_user: boolean; scopes?: readonly string[] },
  ): Promise<string>;
  /** Returns the token of a client, for the user or the project. */
  tokenFor: TokenFor;
}

type ResolveAgent = (
  viewer: Viewer,
  reference: { agent_id: string; version?: number | null; label?: string | null },
) => AgentChoice;

/** Fixed headers and query parameters of a tool. */
type Given = { headers?: Record<string, string>; query?: Record<string, string> };

/** Values that authenticate the calls of an imported tool. */
type ImportedValues = Required<Given> & { auth: { type: "oauth"; oauth_client_id: string } | null };

const isAuthorization = (name: string): boolean => name.toLowerCase() === "authorization";

/** A new tool, or changed fields of one; `openapi` if it is imported. */
export type ToolChange = { openapi?: OpenApiOrigin } & ({ create: CreateTool } | { update: string; input: UpdateTool });

export type ToolStore = ReturnType<typeof createToolStore>;

// A starting run refreshes an MCP server's list that is older than this,
const stale_ms = 5 * 60_000;
// but not within this time after a failure, because every run would wait.
const failed_ms = 30_000;

export function createToolStore(options: ToolStoreOptions) {
  const { db, audit, seal, egress, now = Date.now } = options;
  const rows = createScopedTable(db, tools);
  const { find } = rows;
  // Checked for each tool of each starting run, so only servers' rows are read.
  const isServer = db.sqlite.query<unknown, [string, string, string]>(
    "SELECT 1 FROM tools WHERE project_id = ? AND environment = ? AND id = ? AND type = 'mcp'",
  );
  const server = db.kept.rows((...key: [string, string, string]) => isServer.get(...key) !== null);
  const requireFreeName = createNameValidator(db.sqlite, "tools", "tool");
  const askServer = createMcpLists({
    seal,
    listTools: options.listTools,
    secretValue: options.secrets.value,
    tokenFor: options.oauth.tokenFor,
    now,
  });
  const selectServers = db.sqlite.query<{ id: string }, [string, string, string]>(
    `SELECT id FROM tools WHERE project_id = ? AND environment = ? AND type = 'mcp'
       AND definition ->> '$.mcp.oauth_client_id' = ?`,
  );
  const refreshes = new Map<string, Promise<void>>();
  /** Servers that said that their list is another one now. Ids are unique over projects. */
  const changedLists = new Set<string>();

  const known = async (viewer: Viewer, type: ToolType): Promise<Known> => ({
    hasSecret: (name) => options.secrets.has(viewer, name),
    hasOAuthClient: (id) => options.oauth.hasClient(viewer, id),
    hasAgent: (id) => options.hasAgent(viewer, id),
    files: (ids) => options.fileFacts(viewer, ids, "files"),
    hasStdioServer: options.hasStdioServer,
    sandboxLevel: type === "code" ? await options.sandboxLevel() : "off",
  });

  const requireFewSecrets = (scope: Scope, { headers = {}, query = {} }: Given): void => {
    const { fault: secretsFault } = resolveToolSecrets({ headers, query, signing_secret: "" }, (name) =>
      options.secrets.value(scope, name),
    );
    if (secretsFault) throw invalid("headers", secretsFault);
  };

  /** Returns the input of an agent tool with the id of the agent that it names. */
  function withAgent<Input extends ToolInput>(
    viewer: Viewer,
    input: Input,
    type: ToolType,
    before: Definition | null,
  ): Input {
    const { agent_id = before?.agent?.agent_id, version, label } = input;
    const isNamed = input.agent_id !== undefined || version != null || label != null;
    if (type !== "agent" || agent_id === undefined || !isNamed) return input;
    return {
      ...input,
      ...options.resolveAgent(viewer, {
        agent_id,
        ...(version !== undefined && { version }),
        ...(label !== undefined && { label }),
      }),
    };
  }

  const selectAll = db.sqlite.query<Record<string, unknown>, [string, string]>(
    `SELECT ${columnsOf(tools)} FROM tools WHERE project_id = ? AND environment = ?`,
  );
  const readRow = createReader(tools);

  /** Returns the input of an MCP tool with the OAuth client that its server's discovery makes. */
  async function withClient<Input extends ToolInput>(
    author: Author,
    input: Input,
    { name, before, isDry }: { name: string; before: Definition | null; isDry: boolean },
  ): Promise<Input> {
    const server_url = input.server_url ?? before?.mcp?.server_url;
    if (!input.auth || input.auth.oauth_client_id !== undefined || server_url === undefined || isDry) return input;
    const { per_user = false, scopes } = input.auth;
    const oauth_client_id = await options.oauth.clientFor(author, {
      name,
      server_url,
      per_user,
      ...(scopes && { scopes }),
    });
    return { ...input, auth: { type: "oauth", oauth_client_id } };
  }

  const selectNamed = db.sqlite.query<{ id: string }, [string, string, string]>(
    "SELECT id FROM tools WHERE project_id = ? AND environment = ? AND name = ?",
  );

  const create = (scope: Author & Viewer, input: CreateTool) => add(scope, input, false);

  /** The response is the only place that shows the signing secret. */
  async function add(scope: Author & Viewer, given: CreateTool, isDry: boolean) {
    const { id, type, signing_secret, insert } = await prepareNew(scope, given, undefined, isDry);
    const added = await writeOrTry(db.write, isDry, insert);
    if (isDry) return added;
    if (type === "mcp") await relistIfPossible(scope, id);
    return { ...serializeTool(find(scope, id)), ...(signing_secret && { signing_secret }) };
  }

  /** Checks a new tool. `insert` stores it, within a write. */
  async function prepareNew(
    scope: Author & Viewer,
    given: CreateTool,
    openapi?: OpenApiOrigin,
    isDry = false,
    guard = egress(scope.environment),
  ) {
    const type = given.type ?? (given.url === undefined ? "client" : "http");
    const checked = withAgent(scope, given, type, null);
    checkTool(checked, type, null, await known(scope, type));
    const { headers = {}, query } = secretsOf(checked, toolKinds[type]);
    requireFewSecrets(scope, { headers, query });
    await checkAddress(checked, guard, scope.environment);
    requireFreeName(scope, checked.name, null);
    const input = await withClient(scope, checked, { name: checked.name, before: null, isDry });
    const [id, at] = [newId("tool", now()), now()];
    const { sends } = toolKinds[type];
    const signing_secret = sends?.signed ? newSigningSecret() : null;
    const sealed = sends
      ? sealToolSecrets(seal, scope, id, { headers, ...(query && { query }), signing_secret: signing_secret ?? "" })
      : "";
    const insert = () => {
      requireFreeName(scope, input.name, null);
      rows.insert(scope, {
        id,
        name: input.name,
        type,
        definition: changed({ ...input, ...(openapi && { openapi }) }, type, null),
        sealed,
        metadata: input.metadata ?? {},
        created_at_ms: at,
        updated_at_ms: at,
      });
      audit.note(scope, "tool.created", id, { name: input.name, type });
      return serializeTool(find(scope, id));
    };
    return { id, type, signing_secret, insert };
  }

  /**
   * Creates the tool of this name, or makes it the one that is given: fields that are left out get their defaults. Its
   * type cannot change. A header sent as `********` keeps its value.
   */
  async function sync(scope: Author & Viewer, name: string, input: SyncTool, isDry: boolean): Promise<ToolSync> {
    if (!Value.Check(commonFields.name, name)) throw invalid("name", "Must have 1 to 64 letters, digits, _ and -.");
    const existing = selectNamed.get(scope.project_id, scope.environment, name);
    if (!existing) {
      const tool = await add(scope, { ...input, name }, isDry);
      return { object: "tool_sync", outcome: "created", changes: [], dry_run: isDry, tool };
    }
    const { id } = existing;
    const changes = await replace(scope, id, input, isDry);
    const outcome = changes.length === 0 ? "unchanged" : "updated";
    return { object: "tool_sync", outcome, changes, dry_run: isDry, tool: serializeTool(find(scope, id)) };
  }

  /** Replaces a tool's definition, and returns the names of the fields that differ. */
  async function replace(scope: Author & Viewer, id: string, given: SyncTool, isDry: boolean): Promise<string[]> {
    const before = find(scope, id);
    const { type = before.type, ...others } = given;
    if (type !== before.type) throw invalid("type", `The tool is of the type ${before.type}, which cannot be changed.`);
    const checked = withAgent(
      scope,
      { ...others, ...("auth" in toolKinds[type].fields && { auth: given.auth ?? null }) },
      type,
      null,
    );
    const kind = toolKinds[type];
    const values = {
      ...("headers" in kind.fields && { headers: checked.headers ?? {} }),
      ...("query" in kind.fields && { query: checked.query ?? {} }),
      ...("password" in kind.fields && { password: checked.password ?? "" }),
    };
    checkTool({ ...checked, ...values }, type, definitionOf(before), await known(scope, type));
    // A new tool needs fields that a changed one may leave out.
    throwIfInvalid(kind.faults(checked, null, await known(scope, type)));
    await checkAddress(checked, egress(scope.environment), scope.environment);
    const input = await withClient(scope, checked, { name: before.name, before: null, isDry });
    const changes = await writeOrTry(db.write, isDry, () => {
      const row = find(scope, id);
      const whole = { ...input, ...values };
      checkOrigin(whole, kind, definitionOf(row));
      const { metadata = {} } = input;
      const shown: Record<string, unknown> = serializeTool(row);
      const after = { ...row, definition: kept(changed(whole, type, null), row), metadata };
      const next: Record<string, unknown> = serializeTool(after);
      const differing = fieldsOfTool(type).filter((field) => !Bun.deepEquals(shown[field], next[field]));
      const sealed = kind.sends ? withSecrets(row, { headers: {}, query: {}, ...secretsOf(whole, kind) }) : row.sealed;
      if (kind.sends) differing.push(...changedSecrets(row, sealed).filter((name) => !differing.includes(name)));
      if (differing.length === 0) return differing;
      rows.update(scope, id, { definition: after.definition, sealed, metadata, updated_at_ms: now() });
      audit.note(scope, "tool.updated", id, { name: row.name, changes: differing });
      return differing;
    });
    if (!isDry && type === "mcp" && changesList.some((name) => changes.includes(name)))
      await relistIfPossible(scope, id);
    return changes;
  }

  /** Returns which fields have other values, which are shown to nobody. */
  function changedSecrets(row: Row, sealed: string): string[] {
    const before = openToolSecrets(seal, row, row.id, row.sealed);
    const after = openToolSecrets(seal, row, row.id, sealed);
    const field = toolKinds[row.type].sends?.secretField ?? "headers";
    return [
      ...(Bun.deepEquals(before.headers, after.headers) ? [] : [field]),
      ...(Bun.deepEquals(before.query ?? {}, after.query ?? {}) ? [] : ["query"]),
    ];
  }

  async function update(scope: Author & Viewer, id: string, given: UpdateTool) {
    const { type, input, change } = await prepareChange(scope, id, given);
    await db.write(change);
    if (type === "mcp" && changesList.some((name) => input[name] !== undefined)) await relistIfPossible(scope, id);
    return serializeTool(find(scope, id));
  }

  /** Checks a change. `change` stores it, within a write. */
  async function prepareChange(
    scope: Author & Viewer,
    id: string,
    given: UpdateTool,
    openapi?: OpenApiOrigin,
    guard = egress(scope.environment),
  ) {
    const before = find(scope, id);
    const checked = withAgent(scope, given, before.type, definitionOf(before));
    checkTool(checked, before.type, definitionOf(before), await known(scope, before.type));
    await checkAddress(checked, guard, scope.environment);
    const input = await withClient(scope, checked, { name: before.name, before: definitionOf(before), isDry: false });
    const change = () => {
      const row = find(scope, id); // Read again: another request may have changed it during the DNS lookup.
      checkOrigin(input, toolKinds[row.type], definitionOf(row));
      if (input.name !== undefined) requireFreeName(scope, input.name, id);
      const { name } = rows.update(scope, id, {
        name: input.name,
        definition: changed({ ...input, ...(openapi && { openapi }) }, row.type, definitionOf(row)),
        sealed: sealedAgain(row, secretsOf(input, toolKinds[row.type])),
        metadata: input.metadata,
        updated_at_ms: now(),
      });
      audit.note(scope, "tool.updated", id, { name, changes: Object.keys(input) });
    };
    return { type: before.type, input, change };
  }

  const sealedAgain = (row: Row, given: Given): string | undefined =>
    given.headers || given.query ? withSecrets(row, given) : undefined;

  /** Checks these changes and stores all of them, or none. Returns the ids in their order. */
  async function applyAll(scope: Author & Viewer, changes: readonly ToolChange[], isDry: boolean): Promise<string[]> {
    const rest = createYielder();
    const prepared: { id: string; store: () => unknown }[] = [];
    const guard = checksOnce(egress(scope.environment));
    for (const each of changes) {
      await rest();
      if ("create" in each) {
        const { id, insert } = await prepareNew(scope, each.create, each.openapi, isDry, guard);
        prepared.push({ id, store: insert });
      } else {
        const { change } = await prepareChange(scope, each.update, each.input, each.openapi, guard);
        prepared.push({ id: each.update, store: change });
      }
    }
    if (prepared.length === 0) return [];
    return writeOrTry(db.write, isDry, () => {
      for (const { store } of prepared) store();
      return prepared.map(({ id }) => id);
    });
  }

  /**
   * Returns which of these headers, query parameters and OAuth client the tool does not have, and the input that sets
   * them. A tool that moves to another server needs all of them again. Null for `auth`: no client is given.
   */
  function valuesDiffer(row: Row, { auth, ...given }: ImportedValues, isMoved: boolean) {
    const parts = ["headers", "query"] as const;
    const stored = openToolSecrets(seal, row, row.id, row.sealed);
    const before = definitionOf(row).http?.oauth_client_id;
    // The header Authorization has a value of the tool, or the client's token; a header has one spelling.
    const isReplaced = (name: string) =>
      (auth !== null && isAuthorization(name)) ||
      Object.keys(given.headers).some((other) => other !== name && other.toLowerCase() === name.toLowerCase());
    const kept = {
      headers: Object.keys(stored.headers).filter((name) => !isReplaced(name)),
      query: Object.keys(stored.query ?? {}),
    };
    const differing = parts.filter(
      (part) =>
        kept[part].length < Object.keys(stored[part] ?? {}).length ||
        Object.entries(given[part]).some(([name, value]) => stored[part]?.[name] !== value),
    );
    const input: Given & Pick<UpdateTool, "auth"> = {};
    for (const part of parts)
      if (differing.includes(part) || (isMoved && Object.keys(given[part]).length > 0))
        input[part] = { ...masked(kept[part]), ...given[part] };
    const after = auth ? auth.oauth_client_id : Object.keys(given.headers).some(isAuthorization) ? undefined : before;
    if (after !== before || (isMoved && auth)) input.auth = auth;
    return { names: after === before ? differing : [...differing, "auth" as const], input };
  }

  /** Seals the given headers and query parameters; those that are absent stay. */
  function withSecrets(row: Row, given: Given): string {
    const before = openToolSecrets(seal, row, row.id, row.sealed);
    const headers = given.headers ? unmasked(given.headers, before.headers) : before.headers;
    const query = given.query ? unmasked(given.query, before.query ?? {}) : (before.query ?? {});
    requireFewSecrets(row, { headers, query });
    const { query: _, ...others } = before;
    return sealToolSecrets(seal, row, row.id, {
      ...others,
      headers,
      ...(Object.keys(query).length > 0 && { query }),
    });
  }

  /** Requests an MCP server's tools and stores them; `within` is called inside the write. */
  async function relist(
    scope: Scope,
    id: string,
    within: (row: Row) => void = () => {},
    userId: string | null = null,
  ): Promise<void> {
    const original = find(scope, id);
    const listing = await askServer(original, userId);
    await db.write(() => {
      const row = find(scope, id);
      // The tool may have changed to another server meanwhile; this response is not about that one.
      if (isSameServer(row, original)) keep(row, listing);
      within(row);
    });
  }

  // The change itself stands; a run's start refreshes the list again.
  const relistIfPossible = (scope: Scope, id: string): Promise<void> => relist(scope, id).catch(() => {});

  function keep(row: Row, listing: Listing): void {
    changedLists.delete(row.id);
    rows.update(row, row.id, { definition: { ...definitionOf(row), mcp: { ...serverOf(row), listing } } });
  }

  async function refresh(author: Author, id: string) {
    const { type } = find(author, id);
    if (type !== "mcp") throw new AppError("validation_failed", "Only mcp tools have a list of tools to refresh.");
    await relist(author, id, ({ name }) => audit.note(author, "tool.refreshed", id, { name }));
    return serializeTool(find(author, id));
  }

  function isStale(scope: Scope, id: string): boolean {
    if (!server.of(scope.project_id, scope.environment, id)) return false;
    const row = find(scope, id);
    if (!definitionOf(row).enabled) return false;
    const { listing, oauth_client_id } = serverOf(row);
    // Listed when a user consents: a run without one's token gets no list.
    if (oauth_client_id !== undefined && options.oauth.isPerUser(scope, oauth_client_id)) return false;
    const { listed_at_ms, last_error } = listing;
    if (last_error && now() - last_error.at_ms < failed_ms) return false;
    return listed_at_ms === null || changedLists.has(id) || now() - listed_at_ms > stale_ms;
  }

  /** Refreshes once for concurrently starting runs. After a failure the list stays. */
  function refreshOnce(scope: Scope, id: string): Promise<void> {
    const pendingRefresh = refreshes.get(id);
    if (pendingRefresh) return pendingRefresh;
    const work = relistIfPossible(scope, id).finally(() => refreshes.delete(id));
    refreshes.set(id, work);
    return work;
  }

  return {
    create,
    update,
    sync,
    refresh,
    /** True if the scope has a tool of this name. */
    hasName: (scope: Scope, name: string): boolean =>
      selectNamed.get(scope.project_id, scope.environment, name) !== null,
    applyAll,
    valuesDiffer,
    /** All tools of a project and environment. */
    allRows: (scope: Scope): Row[] => selectAll.all(scope.project_id, scope.environment).map(readRow),
    get: (scope: Scope, id: string) => serializeTool(find(scope, id)),
    list: (scope: Scope, page: Page) => listPage(db, { table: tools, kind: "tool", scope, page }, serializeTool),
    /** Deletes a tool, also from its agents; runs keep the snapshot that they pinned. */
    remove: (author: Author, id: string) =>
      db.write(() => {
        const { name, type } = find(author, id);
        rows.remove(author, id);
        audit.note(author, "tool.deleted", id, { name, type });
        return { id, object: "tool" as const, deleted: true };
      }),
    /** Tools that a run pins, in order, without disabled and unknown ones. */
    snapshots: (scope: Scope, ids: readonly string[]): PinnedTools =>
      pinTools(
        ids.flatMap((id) => rows.get(scope, id) ?? []),
        options.python,
      ),

    /** Requests the tools of the MCP servers of an OAuth client that could not be listed without its new grant. */
    async listGranted(scope: Scope, oauthClientId: string, userId: string | null): Promise<void> {
      const servers = selectServers.all(scope.project_id, scope.environment, oauthClientId);
      const due = servers.filter(({ id }) => {
        const { listed_at_ms, last_error } = serverOf(find(scope, id)).listing;
        return last_error !== null || listed_at_ms === null || now() - listed_at_ms > stale_ms;
      });
      await Promise.all(due.map(({ id }) => relist(scope, id, undefined, userId).catch(() => {})));
    },

    /** Refreshes stale lists of MCP servers before a run pins them; undefined if there are none. */
    refreshStale(scope: Scope, ids: readonly string[]): Promise<void> | undefined {
      const stale = ids.filter((id) => isStale(scope, id));
      return stale.length === 0
        ? undefined
        : Promise.all(stale.map((id) => refreshOnce(scope, id))).then(() => undefined);
    },

    /** Makes the next run read the list of this MCP server again. */
    noteChanged: (id: string): void => void changedLists.add(id),

    /** The tool for a call outside of runs, even if disabled; `tool` names one of an MCP server's. */
    callable(scope: Scope, id: string, tool: string | undefined): ToolSnapshot {
      const row = find(scope, id);
      const definition = definitionOf(row);
      if (!definition.mcp) {
        if (tool !== undefined) throw invalid("name", "Only mcp tools have this.");
        return snapshotOf(row, definition, options.python);
      }
      if (tool === undefined) throw invalid("name", "Choose one of the server's tools.", "required");
      const listed = offered(definition.mcp).find(({ name }) => name === tool);
      if (!listed) throw invalid("name", "Agents have no such tool of this server.");
      return mcpSnapshot(row, definition, listed, freeName(`${row.name}_${listed.name}`, new Set()));
    },
  };
}

/** Keeps what is no part of what a client gives: the tools that an MCP server has listed, and the origin of an import. */
function kept(definition: Definition, row: Row): Definition {
  const { http, mcp } = definition;
  const openapi = definitionOf(row).http?.openapi;
  if (http && openapi) return { ...definition, http: { ...http, openapi } };
  return mcp ? { ...definition, mcp: { ...mcp, listing: serverOf(row).listing } } : definition;
}

/** Names of the fields that a client can set on a tool of this type. */
const fieldsOfTool = (type: ToolType): string[] =>
  [...Object.keys(commonFields), ...Object.keys(toolKinds[type].fields)].filter((name) => name !== "name");

// Other headers may reveal other tools, and only allowed tools are stored.
const changesList = ["server_url", "headers", "auth", "allowed_tools"] as const;

const isSameServer = (a: Row, b: Row): boolean =>
  a.sealed === b.sealed &&
  serverOf(a).server_url === serverOf(b).server_url &&
  serverOf(a).oauth_client_id === serverOf(b).oauth_client_id;

/** Throws with every fault of a new or changed tool; `before` is null for a new one. */
function checkTool(input: UpdateTool, type: ToolType, before: Definition | null, known: Known): void {
  const kind = toolKinds[type];
  const faults = [...strangeFieldFaults(input, type), ...kind.faults(input, before, known)];
  if (typeof input.approval === "object")
    for (const message of checkSchema(input.approval.when)) faults.push(fault("approval.when", `${message}.`));
  const { headers } = secretsOf(input, kind);
  if (headers) faults.push(...secretFaults(headers, kind, before, known));
  if (input.query) faults.push(...queryFaults(input.query, kind, before, known));
  throwIfInvalid(faults);
}

/** Returns the values that are sealed: headers, or the password in their place, and the query. Absent ones stay. */
function secretsOf(input: ToolInput, kind: ToolKind): Given {
  const headers = secretsIn(input, kind);
  return { ...(headers && { headers }), ...(input.query && { query: input.query }) };
}

/** Refuses fields of other types: if they were ignored, clients would think that they apply. */
const strangeFieldFaults = (input: UpdateTool, type: ToolType): Fault[] =>
  Object.keys(typeFields).flatMap((name) => {
    const types = toolTypes.filter((each) => name in toolKinds[each].fields);
    return name in input && !types.includes(type) ? [fault(name, `Only ${inWords(types)} tools have this.`)] : [];
  });

const inWords = (types: readonly string[]): string =>
  [types.slice(0, -1).join(", "), ...types.slice(-1)].filter((words) => words !== "").join(" and ");

/** Serializes a tool: flat, with the fields of its type. */
function serializeTool(row: Row) {
  const definition = definitionOf(row);
  const { description, approval, on_unknown, max_output_bytes, enabled } = definition;
  return {
    id: row.id,
    object: "tool" as const,
    name: row.name,
    type: row.type,
    description,
    parameters: parametersOf(row.type, definition),
    approval,
    on_unknown,
    max_output_bytes,
    enabled,
    ...toolKinds[row.type].show(definition),
    ...changeable(row),
  };
}
