import { Value } from "@sinclair/typebox/value";
import type { AgentChoice } from "../../domain/agent-label.ts";
import { type ToolSnapshot, type ToolType, toolTypes } from "../../domain/agent-snapshot.ts";
import type { SandboxLevel } from "../../domain/api-types/enums.ts";
import { changeable } from "../../domain/api-types/schema.ts";
import { AppError, type Fault } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { Environment, Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import { fault, invalid, throwIfInvalid } from "../../http/errors.ts";
import { listPage, type Page } from "../../http/page.ts";
import { writeOrTry } from "../../http/set-by-name.ts";
import { createNameValidator } from "../../http/validate-name.ts";
import type { Egress } from "../../lib/egress.ts";
import { checkSchema } from "../../lib/json-schema.ts";
import type { Seal } from "../../lib/seal.ts";
import { newSigningSecret } from "../../lib/signature.ts";
import type { SystemPython } from "../../runtime/sandbox/system-python.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import { tools } from "../../storage/db/schema.ts";
import { createScopedTable } from "../../storage/db/scoped-table.ts";
import { checkAddress } from "./address.ts";
import { changed, parametersOf } from "./definition.ts";
import { checkOrigin, headerFaults, unmasked } from "./headers.ts";
import { createMcpLists, type ListTools } from "./mcp-lists.ts";
import { definitionOf, type Row, serverOf } from "./row.ts";
import type { CreateTool, SetTool, ToolSet, UpdateTool } from "./schema.ts";
import { openToolSecrets, resolveToolSecrets, sealToolSecrets } from "./secrets.ts";
import { freeName, mcpSnapshot, type PinnedTools, pinTools, snapshotOf } from "./snapshots.ts";
import { offered } from "./types/mcp.ts";
import { commonFields, type Definition, type Known, type Listing, type ToolInput } from "./types/tool-kind.ts";
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
}

type ResolveAgent = (
  viewer: Viewer,
  reference: { agent_id: string; version?: number | null; label?: string | null },
) => AgentChoice;

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
    now,
  });
  const refreshes = new Map<string, Promise<void>>();

  const known = async (viewer: Viewer, type: ToolType): Promise<Known> => ({
    hasSecret: (name) => options.secrets.has(viewer, name),
    hasAgent: (id) => options.hasAgent(viewer, id),
    files: (ids) => options.fileFacts(viewer, ids, "files"),
    hasStdioServer: options.hasStdioServer,
    sandboxLevel: type === "code" ? await options.sandboxLevel() : "off",
  });

  const requireFewSecrets = (scope: Scope, headers: Record<string, string>): void => {
    const { fault: secretsFault } = resolveToolSecrets({ headers, signing_secret: "" }, (name) =>
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

  const selectNamed = db.sqlite.query<{ id: string }, [string, string, string]>(
    "SELECT id FROM tools WHERE project_id = ? AND environment = ? AND name = ?",
  );

  const create = (scope: Author & Viewer, input: CreateTool) => add(scope, input, false);

  /** The response is the only place that shows the signing secret. */
  async function add(scope: Author & Viewer, given: CreateTool, isDry: boolean) {
    const type = given.type ?? (given.url === undefined ? "client" : "http");
    const input = withAgent(scope, given, type, null);
    checkTool(input, type, null, await known(scope, type));
    requireFewSecrets(scope, input.headers ?? {});
    await checkAddress(input, egress(scope.environment), scope.environment);
    const [id, at] = [newId("tool", now()), now()];
    const { sends } = toolKinds[type];
    const signing_secret = sends?.signed ? newSigningSecret() : null;
    const sealed = sends
      ? sealToolSecrets(seal, scope, id, { headers: input.headers ?? {}, signing_secret: signing_secret ?? "" })
      : "";
    const added = await writeOrTry(db.write, isDry, () => {
      requireFreeName(scope, input.name, null);
      rows.insert(scope, {
        id,
        name: input.name,
        type,
        definition: changed(input, type, null),
        sealed,
        metadata: input.metadata ?? {},
        created_at_ms: at,
        updated_at_ms: at,
      });
      audit.note(scope, "tool.created", id, { name: input.name, type });
      return serializeTool(find(scope, id));
    });
    if (isDry) return added;
    if (type === "mcp") await relistIfPossible(scope, id);
    return { ...serializeTool(find(scope, id)), ...(signing_secret && { signing_secret }) };
  }

  /**
   * Creates the tool of this name, or makes it the one that is given: fields that are left out get their defaults. Its
   * type cannot change. A header sent as `********` keeps its value.
   */
  async function set(scope: Author & Viewer, name: string, input: SetTool, isDry: boolean): Promise<ToolSet> {
    if (!Value.Check(commonFields.name, name)) throw invalid("name", "Expected 1 to 64 letters, digits, _ and -.");
    const existing = selectNamed.get(scope.project_id, scope.environment, name);
    if (!existing) {
      const tool = await add(scope, { ...input, name }, isDry);
      return { object: "tool_set", outcome: "created", changes: [], dry_run: isDry, tool };
    }
    const { id } = existing;
    const changes = await replace(scope, id, input, isDry);
    const outcome = changes.length === 0 ? "unchanged" : "updated";
    return { object: "tool_set", outcome, changes, dry_run: isDry, tool: serializeTool(find(scope, id)) };
  }

  /** Replaces a tool's definition, and returns the names of the fields that differ. */
  async function replace(scope: Author & Viewer, id: string, given: SetTool, isDry: boolean): Promise<string[]> {
    const before = find(scope, id);
    const { type = before.type, ...others } = given;
    if (type !== before.type) throw invalid("type", `The tool is of the type ${before.type}, which cannot be changed.`);
    const input = withAgent(scope, others, type, null);
    const kind = toolKinds[type];
    const headers = "headers" in kind.fields ? { headers: input.headers ?? {} } : {};
    checkTool({ ...input, ...headers }, type, definitionOf(before), await known(scope, type));
    // A new tool needs fields that a changed one may leave out.
    throwIfInvalid(kind.faults(input, null, await known(scope, type)));
    await checkAddress(input, egress(scope.environment), scope.environment);
    const changes = await writeOrTry(db.write, isDry, () => {
      const row = find(scope, id);
      checkOrigin({ ...input, ...headers }, kind, definitionOf(row));
      const { metadata = {} } = input;
      const shown: Record<string, unknown> = serializeTool(row);
      const after = { ...row, definition: withListing(changed({ ...input, ...headers }, type, null), row), metadata };
      const next: Record<string, unknown> = serializeTool(after);
      const differing = fieldsOfTool(type).filter((field) => !Bun.deepEquals(shown[field], next[field]));
      const sealed = kind.sends ? withHeaders(row, input.headers ?? {}) : row.sealed;
      if (kind.sends && !differing.includes("headers") && !hasSameHeaders(row, sealed)) differing.push("headers");
      if (differing.length === 0) return differing;
      rows.update(scope, id, { definition: after.definition, sealed, metadata, updated_at_ms: now() });
      audit.note(scope, "tool.updated", id, { name: row.name, changes: differing });
      return differing;
    });
    if (!isDry && type === "mcp" && changesList.some((name) => changes.includes(name)))
      await relistIfPossible(scope, id);
    return changes;
  }

  const hasSameHeaders = (row: Row, sealed: string): boolean =>
    Bun.deepEquals(
      openToolSecrets(seal, row, row.id, row.sealed).headers,
      openToolSecrets(seal, row, row.id, sealed).headers,
    );

  async function update(scope: Author & Viewer, id: string, given: UpdateTool) {
    const before = find(scope, id);
    const input = withAgent(scope, given, before.type, definitionOf(before));
    checkTool(input, before.type, definitionOf(before), await known(scope, before.type));
    await checkAddress(input, egress(scope.environment), scope.environment);
    await db.write(() => {
      const row = find(scope, id); // Read again: another request may have changed it during the DNS lookup.
      checkOrigin(input, toolKinds[row.type], definitionOf(row));
      if (input.name !== undefined) requireFreeName(scope, input.name, id);
      const { name } = rows.update(scope, id, {
        name: input.name,
        definition: changed(input, row.type, definitionOf(row)),
        sealed: input.headers && withHeaders(row, input.headers),
        metadata: input.metadata,
        updated_at_ms: now(),
      });
      audit.note(scope, "tool.updated", id, { name, changes: Object.keys(input) });
    });
    if (before.type === "mcp" && changesList.some((name) => input[name] !== undefined))
      await relistIfPossible(scope, id);
    return serializeTool(find(scope, id));
  }

  function withHeaders(row: Row, headers: Record<string, string>): string {
    const before = openToolSecrets(seal, row, row.id, row.sealed);
    const after = unmasked(headers, before.headers);
    requireFewSecrets(row, after);
    return sealToolSecrets(seal, row, row.id, { ...before, headers: after });
  }

  /** Requests an MCP server's tools and stores them; `within` is called inside the write. */
  async function relist(scope: Scope, id: string, within: (row: Row) => void = () => {}): Promise<void> {
    const original = find(scope, id);
    const listing = await askServer(original);
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
    const { listed_at_ms, last_error } = serverOf(row).listing;
    if (last_error && now() - last_error.at_ms < failed_ms) return false;
    return listed_at_ms === null || now() - listed_at_ms > stale_ms;
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
    set,
    refresh,
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

    /** Refreshes stale lists of MCP servers before a run pins them; undefined if there are none. */
    refreshStale(scope: Scope, ids: readonly string[]): Promise<void> | undefined {
      const stale = ids.filter((id) => isStale(scope, id));
      return stale.length === 0
        ? undefined
        : Promise.all(stale.map((id) => refreshOnce(scope, id))).then(() => undefined);
    },

    /** The tool for a call outside of runs, even if disabled; `tool` names one of an MCP server's. */
    callable(scope: Scope, id: string, tool: string | undefined): ToolSnapshot {
      const row = find(scope, id);
      const definition = definitionOf(row);
      if (!definition.mcp) {
        if (tool !== undefined) throw invalid("tool", "Only mcp tools have this.");
        return snapshotOf(row, definition, options.python);
      }
      if (tool === undefined) throw invalid("tool", "Choose one of the server's tools.", "required");
      const listed = offered(definition.mcp).find(({ name }) => name === tool);
      if (!listed) throw invalid("tool", "Agents have no such tool of this server.");
      return mcpSnapshot(row, definition, listed, freeName(`${row.name}_${listed.name}`, new Set()));
    },
  };
}

/** Keeps the tools that an MCP server has listed, which are no part of what a client gives. */
const withListing = (definition: Definition, row: Row): Definition =>
  definition.mcp ? { ...definition, mcp: { ...definition.mcp, listing: serverOf(row).listing } } : definition;

/** Names of the fields that a client can set on a tool of this type. */
const fieldsOfTool = (type: ToolType): string[] =>
  [...Object.keys(commonFields), ...Object.keys(toolKinds[type].fields)].filter((name) => name !== "name");

// Other headers may reveal other tools, and only allowed tools are stored.
const changesList = ["server_url", "headers", "allowed_tools"] as const;

const isSameServer = (a: Row, b: Row): boolean =>
  a.sealed === b.sealed && serverOf(a).server_url === serverOf(b).server_url;

/** Throws with every fault of a new or changed tool; `before` is null for a new one. */
function checkTool(input: UpdateTool, type: ToolType, before: Definition | null, known: Known): void {
  const kind = toolKinds[type];
  const faults = [...strangeFieldFaults(input, type), ...kind.faults(input, before, known)];
  if (typeof input.approval === "object")
    for (const message of checkSchema(input.approval.when)) faults.push(fault("approval.when", `${message}.`));
  if (input.headers) faults.push(...headerFaults(input.headers, kind, before, known));
  throwIfInvalid(faults);
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
