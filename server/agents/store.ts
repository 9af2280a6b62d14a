import { sql } from "drizzle-orm";
import type { DoorName } from "../core/doors.ts";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import type { Environment, Scope } from "../core/scope.ts";
import type { Author, StoreBase } from "../db/audit.ts";
import { createRows } from "../db/rows.ts";
import { agents } from "../db/schema.ts";
import { mayUse, type Viewer } from "../http/auth.ts";
import type { Condition } from "../http/condition.ts";
import { listPage, type Page } from "../http/page.ts";
import { lasting } from "../http/response.ts";
import type { AgentOverrides } from "../http/schemas.ts";
import { weightOf } from "../lib/weight.ts";
import { changeable } from "../wire/schema.ts";
import { createAttachedTools, requireOtherNames } from "./attached-tools.ts";
import { changed, checkAgent, checkJudges, readDefinition, type ToolReference, withoutScript } from "./definition.ts";
import type { StoreFacts } from "./memory-policy.ts";
import { createPins, type PinOptions } from "./pins.ts";
import type { CreateAgent, Definition, UpdateAgent } from "./schema.ts";
import { createVersionStore } from "./versions.ts";

type Row = typeof agents.$inferSelect;

export interface AgentStoreOptions extends StoreBase, PinOptions {
  /** Throws where a model that an agent is given cannot be reached now, as far as that can be known beforehand. */
  requireThere?: (model: string, param?: string) => Promise<void>;
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
  const there = db.kept.rows((...key: [string, string, string]) => isThere.get(...key) !== null);
  /** Agents that fulfil a condition on a word, the oldest first, without their tools. */
  const agentsWhere = (condition: string) => {
    const select = sqlite.query<{ id: string }, [string, string, string]>(
      `SELECT id FROM agents WHERE project_id = ? AND environment = ? AND ${condition} ORDER BY id`,
    );
    return db.kept.rows(
      (project_id: string, environment: Environment, word: string) =>
        select.all(project_id, environment, word).map(({ id }) => toAgent(find({ project_id, environment }, id), [])),
      { bytesOf: weightOf },
    );
  };
  const ofDoor = agentsWhere("json_extract(definition, '$.doors.' || ?)");
  const withMetadata = agentsWhere("EXISTS (SELECT 1 FROM json_each(agents.metadata) WHERE key = ?)");
  const factsOf = (scope: Scope) => (id: string) => {
    const facts = memoryFacts(scope, id);
    return facts && { name: facts.name, kind: facts.kind, scope: facts.scope };
  };
  const attached = createAttachedTools(db);
  const pins = createPins({ db, rows, attached, factsOf, modelAvailable, toolSnapshots });
  const get = (scope: Scope, id: string) => toAgent(find(scope, id), attached.of(scope, id));
  const shown = db.kept.rows(
    (project_id: string, environment: Environment, id: string) => lasting(get({ project_id, environment }, id)),
    { most: keptAgents, bytesOf: weightOf },
  );

  async function create(scope: Author, input: CreateAgent) {
    checkAgent(input, scope.environment, modelAvailable);
    checkJudges(input.model, input.guardrails ?? []);
    await requireThere(input.model);
    return db.write(() => {
      const tools = attached.require(scope, input.tools ?? []);
      const [id, at, definition] = [newId("agent", now()), now(), changed(input, null, factsOf(scope))];
      requireOtherNames(definition.memory, tools, factsOf(scope));
      const metadata = input.metadata ?? {};
      const { name, model } = input;
      rows.insert(scope, {
        id,
        name,
        model,
        version: 1,
        definition,
        metadata,
        created_at_ms: at,
        updated_at_ms: at,
      });
      attached.attach(scope, id, tools);
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
      const before = { name: row.name, model: row.model, ...stored, tools: attached.of(scope, id) };
      const definition = changed(input, stored, factsOf(scope));
      const after = {
        name: input.name ?? row.name,
        model: input.model ?? row.model,
        ...definition,
        tools: input.tools ? attached.require(scope, input.tools) : before.tools,
      };
      checkJudges(after.model, after.guardrails);
      if (input.memory || input.tools) requireOtherNames(after.memory, after.tools, factsOf(scope));
      const { metadata = row.metadata } = input;
      const changes = differing({ ...before, metadata: row.metadata }, { ...after, metadata });
      if (changes.length === 0) return get(scope, id);
      const [version, at] = [row.version + 1, now()];
      const { name, model } = after;
      rows.update(scope, id, { name, model, version, definition, metadata, updated_at_ms: at });
      if (input.tools) attached.attach(scope, id, after.tools);
      versions.add(scope, id, version, after, metadata, at);
      audit.note(scope, "agent.updated", id, { name: after.name, version, changes });
      return get(scope, id);
    });
  }

  return {
    create,
    update,
    /** Throws for what is not there. */
    get: ({ project_id, environment }: Scope, id: string) => shown.of(project_id, environment, id),
    /** The tools that a run of the agent would have; none of an agent that is not there. */
    toolIds: (scope: Scope, id: string, { tools }: AgentOverrides = {}): readonly string[] =>
      tools ?? attached.of(scope, id).map((each) => each.id),
    /** Whether there is such an agent, for whoever asks: of other agents a bound key knows nothing. */
    has: ({ project_id, environment, agent_ids }: Viewer, id: string): boolean =>
      agent_ids?.includes(id) !== false && there.of(project_id, environment, id),
    /** Those that are reached by a door, without their tools, the oldest first; for whoever asks. */
    throughDoor: (viewer: Viewer, door: DoorName) =>
      ofDoor.of(viewer.project_id, viewer.environment, door).filter(({ id }) => mayUse(viewer, id)),
    /** Agents that the caller may use and whose metadata has this key, oldest first, without their tools. */
    withMetadata: (viewer: Viewer, key: string) =>
      withMetadata.of(viewer.project_id, viewer.environment, key).filter(({ id }) => mayUse(viewer, id)),
    ...pins,
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

const keptAgents = 100;

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
    ...changeable(row),
  };
}
