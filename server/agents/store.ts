import { sql } from "drizzle-orm";
import type { AgentSnapshot, MemoryPolicy } from "../core/agent-snapshot.ts";
import type { DoorName } from "../core/doors.ts";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import type { Environment, Scope } from "../core/scope.ts";
import { timestamp } from "../core/time.ts";
import type { Author, StoreBase } from "../db/audit.ts";
import { createRows } from "../db/rows.ts";
import { agents, agentTools } from "../db/schema.ts";
import { mayUse, type Viewer } from "../http/auth.ts";
import type { Condition } from "../http/condition.ts";
import { fault, validationError } from "../http/errors.ts";
import { listPage, type Page } from "../http/page.ts";
import { lasting } from "../http/response.ts";
import type { AgentOverrides } from "../http/schemas.ts";
import { weightOf } from "../lib/weight.ts";
import {
  changed,
  checkAgent,
  checkJudges,
  type ModelAvailable,
  overridden,
  pinnedFields,
  readDefinition,
  type ToolReference,
  withoutScript,
} from "./definition.ts";
import { type FactsOf, presentStores, type StoreFacts } from "./memory-policy.ts";
import { memoryTools } from "./memory-tools.ts";
import type { AgentEdits, CreateAgent, Definition, UpdateAgent } from "./schema.ts";
import { createVersionStore } from "./versions.ts";

type Row = typeof agents.$inferSelect;

export interface AgentStoreOptions extends StoreBase {
  modelAvailable: ModelAvailable;
  /** Throws where a model that an agent is given cannot be reached now, as far as that can be known beforehand. */
  requireThere?: (model: string, param?: string) => Promise<void>;
  /** What a run pins of tools, in the order of their ids, and what it cannot have of them. */
  toolSnapshots: (scope: Scope, ids: readonly string[]) => Required<Pick<AgentSnapshot, "tools" | "unavailable">>;
  /** What a store of memory is; null for one that is not there. */
  memoryFacts: (scope: Scope, id: string) => StoreFacts | null;
}

export type AgentStore = ReturnType<typeof createAgentStore>;

export function createAgentStore({
  db,
  audit,
  modelAvailable,
  requireThere = async () => {},
  toolSnapshots,
  memoryFacts,
  now = Date.now,
}: AgentStoreOptions) {
  const { sqlite } = db;
  const versions = createVersionStore(db);
  const rows = createRows(db, agents);
  const { find } = rows;
  const isThere = sqlite.query<unknown, [string, string, string]>(
    "SELECT 1 FROM agents WHERE project_id = ? AND environment = ? AND id = ?",
  );
  // Neither join nor sort in SQL: each would cost more than all the rest of reading an agent.
  const attached = sqlite.query<ToolReference & { position: number }, [string, string, string]>(
    `SELECT tool_id AS id, position,
       (SELECT name FROM tools t WHERE t.project_id = a.project_id AND t.environment = a.environment AND t.id = tool_id) AS name,
       (SELECT type FROM tools t WHERE t.project_id = a.project_id AND t.environment = a.environment AND t.id = tool_id) AS type
     FROM agent_tools a WHERE project_id = ? AND environment = ? AND agent_id = ?`,
  );
  const tool = sqlite.query<ToolReference, [string, string, string]>(
    "SELECT id, name, type FROM tools WHERE project_id = ? AND environment = ? AND id = ?",
  );
  const there = db.kept.rows((...key: [string, string, string]) => isThere.get(...key) !== null);
  const toolReferences = db.kept.rows((project_id: string, environment: Environment, id: string): ToolReference[] =>
    attached
      .all(project_id, environment, id)
      .sort((a, b) => a.position - b.position)
      .map(({ id, name, type }) => ({ id, name, type })),
  );
  const plain = db.kept.rows(
    (project_id: string, environment: Environment, id: string) => made({ project_id, environment }, id, {}),
    { bytesOf: weightOf },
  );
  const selectOfDoor = sqlite.query<{ id: string }, [string, string, string]>(
    "SELECT id FROM agents WHERE project_id = ? AND environment = ? AND json_extract(definition, '$.doors.' || ?) ORDER BY id",
  );
  const ofDoor = db.kept.rows(
    (project_id: string, environment: Environment, door: DoorName) =>
      selectOfDoor
        .all(project_id, environment, door)
        .map(({ id }) => toAgent(find({ project_id, environment }, id), [])),
    { bytesOf: weightOf },
  );
  const selectWithMetadata = sqlite.query<{ id: string }, [string, string, string]>(
    `SELECT id FROM agents WHERE project_id = ? AND environment = ?
       AND EXISTS (SELECT 1 FROM json_each(agents.metadata) WHERE key = ?) ORDER BY id`,
  );
  const withMetadata = db.kept.rows(
    (project_id: string, environment: Environment, key: string) =>
      selectWithMetadata
        .all(project_id, environment, key)
        .map(({ id }) => toAgent(find({ project_id, environment }, id), [])),
    { bytesOf: weightOf },
  );
  const toolsOf = ({ project_id, environment }: Scope, id: string): ToolReference[] =>
    toolReferences.of(project_id, environment, id);
  const factsOf = (scope: Scope) => (id: string) => {
    const facts = memoryFacts(scope, id);
    return facts && { name: facts.name, kind: facts.kind, scope: facts.scope };
  };
  const get = (scope: Scope, id: string) => toAgent(find(scope, id), toolsOf(scope, id));
  const shown = db.kept.rows(
    (project_id: string, environment: Environment, id: string) => lasting(get({ project_id, environment }, id)),
    { most: keptAgents, bytesOf: weightOf },
  );

  function requireTools({ project_id, environment }: Scope, ids: readonly string[], prefix = ""): ToolReference[] {
    const found = ids.map((id) => tool.get(project_id, environment, id));
    const faults = found.flatMap((each, i) => (each ? [] : [noTool(`${prefix}tools[${i}]`)]));
    if (faults.length > 0) throw validationError(faults);
    return found as ToolReference[];
  }

  function attach({ project_id, environment }: Scope, id: string, tools: readonly ToolReference[]): void {
    sqlite
      .query("DELETE FROM agent_tools WHERE project_id = ? AND environment = ? AND agent_id = ?")
      .run(project_id, environment, id);
    const attached = tools.map((tool, position) => ({
      ...{ project_id, environment, agent_id: id, tool_id: tool.id, position },
    }));
    if (attached.length > 0) db.orm.insert(agentTools).values(attached).run();
  }

  async function create(scope: Author, input: CreateAgent) {
    checkAgent(input, scope.environment, modelAvailable);
    checkJudges(input.model, input.guardrails ?? []);
    await requireThere(input.model);
    return db.write(() => {
      const tools = requireTools(scope, input.tools ?? []);
      const [id, at, definition] = [newId("agent", now()), now(), changed(input, null, factsOf(scope))];
      requireOtherNames(definition.memory, tools, factsOf(scope));
      const metadata = input.metadata ?? {};
      const { name, model } = input;
      rows.insert(scope, {
        ...{ id, name, model, version: 1, definition, metadata, created_at_ms: at, updated_at_ms: at },
      });
      attach(scope, id, tools);
      versions.add(scope, id, 1, { name: input.name, model: input.model, ...definition, tools }, metadata, at);
      audit.note(scope, "agent.created", id, { name: input.name, version: 1 });
      return get(scope, id);
    });
  }

  /** A new version, if anything is different from before; else what there is. */
  async function update(scope: Author, id: string, input: UpdateAgent) {
    const before = find(scope, id); // What is not there is not there, whatever the body says.
    checkAgent(input, scope.environment, modelAvailable);
    if (input.model !== undefined && input.model !== before.model) await requireThere(input.model);
    return db.write(() => {
      const row = find(scope, id);
      if (input.expected_version !== undefined && input.expected_version !== row.version)
        throw new AppError("version_conflict", `The agent is at version ${row.version}.`, {
          param: "expected_version",
          details: { version: row.version },
        });
      const stored = readDefinition(row.definition);
      const before = { name: row.name, model: row.model, ...stored, tools: toolsOf(scope, id) };
      const definition = changed(input, stored, factsOf(scope));
      const after = {
        name: input.name ?? row.name,
        model: input.model ?? row.model,
        ...definition,
        tools: input.tools ? requireTools(scope, input.tools) : before.tools,
      };
      checkJudges(after.model, after.guardrails);
      if (input.memory || input.tools) requireOtherNames(after.memory, after.tools, factsOf(scope));
      const { metadata = row.metadata } = input;
      const changes = differing({ ...before, metadata: row.metadata }, { ...after, metadata });
      if (changes.length === 0) return get(scope, id);
      const [version, at] = [row.version + 1, now()];
      const { name, model } = after;
      rows.update(scope, id, { name, model, version, definition, metadata, updated_at_ms: at });
      if (input.tools) attach(scope, id, after.tools);
      versions.add(scope, id, version, after, metadata, at);
      audit.note(scope, "agent.updated", id, { name: after.name, version, changes });
      return get(scope, id);
    });
  }

  /** Throws for a tool or a model that a key bound to agents could not use by any of them. */
  function requireOwn(scope: Viewer, { tools = [], model }: AgentOverrides, prefix = "overrides."): void {
    if (!scope.agent_ids) return;
    const own = scope.agent_ids.flatMap((id) => rows.get(scope, id) ?? []);
    const known = new Set(own.flatMap(({ id }) => toolsOf(scope, id)).map(({ id }) => id));
    const faults = tools.flatMap((id, i) => (known.has(id) ? [] : [noTool(`${prefix}tools[${i}]`)]));
    if (faults.length > 0) throw validationError(faults);
    if (model !== undefined && !own.some((agent) => agent.model === model))
      throw new AppError("model_not_available", `${prefix}model: None of this key's agents has this model.`, {
        param: `${prefix}model`,
      });
  }

  /** An agent as a run has pinned it, for another run that has this different; throws where its model is not available. */
  function edited(scope: Viewer, agent: AgentSnapshot, edits: AgentEdits): AgentSnapshot {
    const { instructions = agent.instructions, model = agent.model } = edits;
    requireOwn(scope, edits, "edits.");
    checkAgent({ instructions, model }, scope.environment, modelAvailable, "edits.");
    checkJudges(model, agent.guardrails ?? []);
    return { ...agent, instructions, model };
  }

  /** The agent as a run pins it, with what this run has different. */
  function snapshot(scope: Viewer, id: string, overrides: AgentOverrides = {}): AgentSnapshot {
    if (Object.keys(overrides).length === 0) return plain.of(scope.project_id, scope.environment, id);
    find(scope, id);
    requireOwn(scope, overrides);
    return made(scope, id, overrides);
  }

  function made(scope: Scope, id: string, overrides: AgentOverrides): AgentSnapshot {
    const row = find(scope, id);
    checkAgent(overrides, scope.environment, modelAvailable, "overrides.");
    const { tools: chosen, model = row.model, ...different } = overrides;
    const definition = overridden(readDefinition(row.definition), different);
    const { memory } = definition;
    checkJudges(model, definition.guardrails);
    const references = chosen ? requireTools(scope, chosen, "overrides.") : toolsOf(scope, id);
    if (chosen) requireOtherNames(memory, references, factsOf(scope), "overrides.");
    const { tools, unavailable } = toolSnapshots(
      scope,
      references.map((each) => each.id),
    );
    const names = new Set(tools.map(({ name }) => name));
    const ofMemory = memory ? memoryTools(presentStores(memory, factsOf(scope)), names) : [];
    const { instructions, settings, max_turns, ...rest } = pinnedFields(definition, factsOf(scope));
    return {
      ...{ id, version: row.version, name: row.name, model, instructions, settings },
      tools: [...tools, ...ofMemory],
      max_turns,
      ...rest,
      ...(unavailable.length > 0 && { unavailable }),
    };
  }

  return {
    create,
    update,
    /** Throws for what is not there. */
    get: ({ project_id, environment }: Scope, id: string) => shown.of(project_id, environment, id),
    /** The tools that a run of the agent would have; none of an agent that is not there. */
    toolIds: (scope: Scope, id: string, { tools }: AgentOverrides = {}): readonly string[] =>
      tools ?? toolsOf(scope, id).map((each) => each.id),
    /** Whether there is such an agent, for whoever asks: of other agents a bound key knows nothing. */
    has: ({ project_id, environment, agent_ids }: Viewer, id: string): boolean =>
      agent_ids?.includes(id) !== false && there.of(project_id, environment, id),
    /** Those that are reached by a door, without their tools, the oldest first; for whoever asks. */
    throughDoor: (viewer: Viewer, door: DoorName) =>
      ofDoor.of(viewer.project_id, viewer.environment, door).filter(({ id }) => mayUse(viewer, id)),
    /** Agents that the caller may use and whose metadata has this key, oldest first, without their tools. */
    withMetadata: (viewer: Viewer, key: string) =>
      withMetadata.of(viewer.project_id, viewer.environment, key).filter(({ id }) => mayUse(viewer, id)),
    snapshot,
    edited,
    versions,
    list: (scope: Scope, page: Page, where: readonly Condition[] = []) =>
      listPage(db, { table: agents, kind: "agent", more: { tools: countTools }, scope, page, where }, toAgentItem),
    /** Runs go on with the snapshot that they pinned. */
    remove: (author: Author, id: string) =>
      db.write(() => {
        const { name, version } = find(author, id);
        rows.remove(author, id);
        audit.note(author, "agent.deleted", id, { name, version });
        return { id, object: "agent" as const, deleted: true };
      }),
  };
}

/** Throws for tools that are named like one that comes with the memory. */
function requireOtherNames(
  memory: MemoryPolicy | null,
  tools: readonly ToolReference[],
  factsOf: FactsOf,
  prefix = "",
): void {
  const names = memory ? memoryTools(presentStores(memory, factsOf)).map(({ name }) => name) : [];
  const faults = tools.flatMap(({ name }, i) =>
    names.includes(name)
      ? [fault(`${prefix}tools[${i}]`, `The agent's memory comes with a tool "${name}" of its own.`)]
      : [],
  );
  if (faults.length > 0) throw validationError(faults);
}

const keptAgents = 100;

const noTool = (param: string) => fault(param, "There is no such tool.");

/** Names of the fields whose values are not the same. */
const differing = (before: Record<string, unknown>, after: Record<string, unknown>): string[] =>
  Object.keys(after).filter((name) => !Bun.deepEquals(before[name], after[name]));

const countTools = sql<number>`SELECT count(*) FROM agent_tools a WHERE a.project_id = agents.project_id
  AND a.environment = agents.environment AND a.agent_id = agents.id`;

/** With a number in place of the tools. */
function toAgentItem(row: Row & { tools: number }) {
  const agent = toAgent(row, []);
  return { ...withoutScript(agent), tools: row.tools, tools_count: row.tools };
}

function toAgent(row: Row, tools: ToolReference[]) {
  const { description, instructions, model_settings, ...rest } = readDefinition<Definition>(row.definition);
  return {
    id: row.id,
    object: "agent" as const,
    name: row.name,
    description,
    instructions,
    model: row.model,
    model_settings,
    tools,
    tools_count: tools.length,
    ...rest,
    version: row.version,
    metadata: row.metadata,
    created_at: timestamp(row.created_at_ms),
    updated_at: timestamp(row.updated_at_ms),
    project_id: row.project_id,
    environment: row.environment,
  };
}
