import { sql } from "drizzle-orm";
import { changeable } from "../../domain/api-types/schema.ts";
import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { ProtocolName } from "../../domain/protocols.ts";
import type { Environment, Scope } from "../../domain/scope.ts";
import { mayUse, type Viewer } from "../../http/auth.ts";
import { ambiguousAgent, invalid } from "../../http/errors.ts";
import { listPage, type Page } from "../../http/page.ts";
import { cachedJson } from "../../http/response.ts";
import type { Condition } from "../../http/row-filter.ts";
import { writeOrTry } from "../../http/set-by-name.ts";
import { estimateJsonSize } from "../../lib/estimate-json-size.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import { agents } from "../../storage/db/schema.ts";
import { createScopedTable } from "../../storage/db/scoped-table.ts";
import { completeSkills, noSkills, type ProjectSkills, type SkillReference } from "./agent-skills.ts";
import { type AgentSnapshotOptions, createAgentSnapshots } from "./agent-snapshots.ts";
import { createAgentsNamed } from "./agents-named.ts";
import { createAttachedTools, requireUniqueNames } from "./attached-tools.ts";
import { checkSettings } from "./check-settings.ts";
import { checkTemplates } from "./check-templates.ts";
import {
  changeDefinition,
  checkAgent,
  checkJudges,
  checkProviderTools,
  modelsIn,
  readDefinition,
  type ToolReference,
  withoutScript,
} from "./definition.ts";
import { type ChooseVersion, type ResolveAgent, resolveHandoffs } from "./handoffs.ts";
import { createHasAgent, type HasAgent } from "./has-agent.ts";
import type { StoreFacts } from "./memory-policy.ts";
import type { AgentSync, CreateAgent, Definition, SyncAgent, UpdateAgent } from "./schema.ts";
import { createVersionStore } from "./versions.ts";

type Row = typeof agents.$inferSelect;

interface AgentStoreOptions extends StoreBase, AgentSnapshotOptions {
  /** Throws if a newly set model is known to be unreachable. */
  requireModelAvailable?: (model: string, param?: string) => Promise<void>;
  /** Facts about a memory store; null if there is none. */
  memoryFacts: (scope: Scope, id: string) => StoreFacts | null;
  skills?: ProjectSkills;
  hasAgent?: HasAgent;
  /** Returns the agent that a handoff names. Throws if there is none that the viewer may use. */
  resolveAgent?: ResolveAgent;
  chooseVersion?: ChooseVersion;
  hasSecret?(scope: Scope, name: string): boolean;
}

export type AgentStore = ReturnType<typeof createAgentStore>;

export function createAgentStore({
  db,
  audit,
  modelAvailable,
  requireModelAvailable = async () => {},
  toolSnapshots,
  memoryFacts,
  skills = noSkills,
  hasAgent = createHasAgent(db),
  resolveAgent = (_, { agent_id }) => ({ agent_id, version: null, label: null }),
  chooseVersion = (_, { version }) => version,
  hasSecret = () => false,
  pinnedSnippet = () => null,
  now = Date.now,
}: AgentStoreOptions) {
  const { sqlite } = db;
  const versions = createVersionStore(db);
  const rows = createScopedTable(db, agents);
  const { find } = rows;
  /** Lists agents that fulfil a condition with one parameter, oldest first, without their tools. */
  const agentsWhere = (condition: string) => {
    const select = sqlite.query<{ id: string }, [string, string, string]>(
      `SELECT id FROM agents WHERE project_id = ? AND environment = ? AND ${condition} ORDER BY id`,
    );
    return db.kept.rows(
      (project_id: string, environment: Environment, word: string) =>
        select.all(project_id, environment, word).map(({ id }) => toAgent(find({ project_id, environment }, id), [])),
      { bytesOf: estimateJsonSize },
    );
  };
  const ofProtocol = agentsWhere("json_extract(definition, '$.doors.' || ?)");
  const withMetadata = agentsWhere("EXISTS (SELECT 1 FROM json_each(agents.metadata) WHERE key = ?)");
  const factsOf = (scope: Scope) => (id: string) => {
    const facts = memoryFacts(scope, id);
    return facts && { name: facts.name, kind: facts.kind, scope: facts.scope };
  };
  const attached = createAttachedTools(db);
  const pins = createAgentSnapshots({
    db,
    rows,
    attached,
    factsOf,
    modelAvailable,
    toolSnapshots,
    pinnedSnippet,
    pinSkills: skills.pin,
    chooseVersion,
    versions,
  });
  /** Completes the skills that the request names, beside those that the agent has. */
  const withSkills = <Input extends CreateAgent | UpdateAgent>(
    scope: Scope,
    input: Input,
    had: SkillReference[],
  ): Input =>
    input.skills
      ? { ...input, skills: completeSkills(input.skills, had, (named, version) => skills.find(scope, named, version)) }
      : input;
  /** Names the agents of the request's handoffs by their ids; `before` is the agent as it is stored. */
  const withHandoffs = <Input extends CreateAgent | UpdateAgent>(
    scope: Viewer,
    input: Input,
    before: Parameters<typeof resolveHandoffs>[2],
  ): Input =>
    input.handoffs ? { ...input, handoffs: resolveHandoffs(scope, input.handoffs, before, resolveAgent) } : input;
  const get = (scope: Scope, id: string) => toAgent(find(scope, id), attached.of(scope, id));
  const agentCache = db.kept.rows(
    (project_id: string, environment: Environment, id: string) => cachedJson(get({ project_id, environment }, id)),
    { most: maxCachedAgents, bytesOf: estimateJsonSize },
  );

  /** Throws if a model that the request names is known to be unreachable; `had` is the one that the agent has. */
  async function requireAllAvailable(input: CreateAgent | UpdateAgent, had?: string): Promise<void> {
    for (const [i, each] of modelsIn(input).entries())
      if (each !== had) await requireModelAvailable(each, input.models ? `models[${i}]` : "model");
  }

  /** Throws if the agent's texts have places without a variable or snippet. Call inside a write. */
  function checkTexts(scope: Scope, definition: Definition, tools: readonly ToolReference[], isNew: boolean): void {
    const { instructions, variables, snippets } = definition;
    const toolIds = tools.map(({ id }) => id);
    const described = isNew && variables.length > 0 ? toolSnapshots(scope, toolIds).tools : null;
    checkTemplates(scope, { instructions, variables, snippets, tools: described, toolIds }, pinnedSnippet);
  }

  const agentsNamed = createAgentsNamed(db);
  /** Returns the id of the only agent with this name, null if there is none. Throws if there are several. */
  function idNamed(viewer: Viewer, name: string): string | null {
    const ids = agentsNamed(viewer, name);
    if (ids.length > 1) throw ambiguousAgent("name", ids);
    return ids[0] ?? null;
  }

  const create = (scope: Author, input: CreateAgent) => add(scope, input);

  async function add(
    scope: Author,
    input: CreateAgent,
    { isDry = false, requireNew = () => {} }: { isDry?: boolean; requireNew?(): void } = {},
  ) {
    const models = modelsIn(input);
    const [model] = models;
    if (model === undefined) throw invalid("model", "Must be given, unless models names several.");
    checkAgent(input, scope.environment, modelAvailable);
    checkJudges(models, input.guardrails ?? []);
    checkSettings(model, input.model_settings ?? {}, (name) => hasSecret(scope, name));
    await requireAllAvailable(input);
    return writeOrTry(db.write, isDry, () => {
      requireNew();
      const tools = attached.require(scope, input.tools ?? []);
      const [id, at, definition] = [
        newId("agent", now()),
        now(),
        changeDefinition(withHandoffs(scope, withSkills(scope, input, []), newAgent), null, factsOf(scope)),
      ];
      requireUniqueNames(definition.memory, tools, factsOf(scope));
      checkTexts(scope, definition, tools, true);
      const metadata = input.metadata ?? {};
      const { name } = input;
      for (const each of models) checkProviderTools(each, definition.provider_tools, tools.length > 0);
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
      versions.add(scope, id, 1, { name, model, ...definition, tools }, metadata, at);
      audit.note(scope, "agent.created", id, { name: input.name, version: 1 });
      return get(scope, id);
    });
  }

  const update = async (scope: Author, id: string, input: UpdateAgent) =>
    (await change(scope, id, input, { isDry: false, replaces: false })).agent;

  /**
   * Creates the only agent of this name, or makes it the one that is given: fields that are left out get their defaults.
   * Throws if several agents have the name.
   */
  async function sync(scope: Author & Viewer, name: string, input: SyncAgent, isDry: boolean): Promise<AgentSync> {
    const id = idNamed(scope, name);
    if (id !== null) {
      const { agent, changes } = await change(scope, id, { ...input, name }, { isDry, replaces: true });
      const outcome = changes.length === 0 ? "unchanged" : "updated";
      return { object: "agent_sync", outcome, changes, dry_run: isDry, agent };
    }
    const requireNew = () => {
      if (idNamed(scope, name) !== null) throw new MadeMeanwhile();
    };
    try {
      const agent = await add(scope, { ...input, name }, { isDry, requireNew });
      return { object: "agent_sync", outcome: "created", changes: [], dry_run: isDry, agent };
    } catch (error) {
      if (error instanceof MadeMeanwhile) return sync(scope, name, input, isDry);
      throw error;
    }
  }

  /**
   * Stores a new version if anything differs; otherwise returns the current one. With `replaces`, fields that are left
   * out get their defaults.
   */
  async function change(
    scope: Author,
    id: string,
    input: UpdateAgent,
    { isDry, replaces }: { isDry: boolean; replaces: boolean },
  ) {
    const before = find(scope, id); // Checked first: an unknown agent is a 404, whatever the body says.
    checkAgent(input, scope.environment, modelAvailable);
    await requireAllAvailable(input, before.model);
    return writeOrTry(db.write, isDry, () => {
      const row = find(scope, id);
      if (input.expected_version !== undefined && input.expected_version !== row.version)
        throw new AppError("version_conflict", `The agent is at version ${row.version}.`, {
          param: "expected_version",
          details: { version: row.version },
        });
      const stored = readDefinition(row.definition);
      const before = { name: row.name, model: row.model, ...stored, tools: attached.of(scope, id) };
      const named = withHandoffs(scope, withSkills(scope, input, stored.skills), { id, had: stored.handoffs });
      const definition = changeDefinition(named, replaces ? null : stored, factsOf(scope));
      const after = {
        name: input.name ?? row.name,
        model: modelsIn(input)[0] ?? row.model,
        ...definition,
        tools: input.tools || replaces ? attached.require(scope, input.tools ?? []) : before.tools,
      };
      checkJudges(after.models ?? [after.model], after.guardrails);
      const isAsBefore = after.model === before.model && Bun.deepEquals(after.model_settings, before.model_settings);
      if (!isAsBefore) checkSettings(after.model, after.model_settings, (name) => hasSecret(scope, name));
      for (const each of after.models ?? [after.model])
        checkProviderTools(each, after.provider_tools, after.tools.length > 0);
      const toolsChange = input.tools !== undefined || replaces;
      const { instructions, variables, snippets } = input;
      if (toolsChange || [instructions, variables, snippets].some((each) => each !== undefined))
        checkTexts(scope, after, after.tools, toolsChange || variables !== undefined);
      if (input.memory || toolsChange) requireUniqueNames(after.memory, after.tools, factsOf(scope));
      const { metadata = replaces ? {} : row.metadata } = input;
      const changes = differing({ ...before, metadata: row.metadata }, { ...after, metadata });
      if (changes.length === 0) return { agent: get(scope, id), changes };
      const [version, at] = [row.version + 1, now()];
      const { name, model } = after;
      rows.update(scope, id, { name, model, version, definition, metadata, updated_at_ms: at });
      if (input.tools || replaces) attached.attach(scope, id, after.tools);
      versions.add(scope, id, version, after, metadata, at);
      audit.note(scope, "agent.updated", id, { name: after.name, version, changes });
      return { agent: get(scope, id), changes };
    });
  }

  return {
    create,
    update,
    sync,
    /** Throws if there is no such agent. */
    get: ({ project_id, environment }: Scope, id: string) => agentCache.of(project_id, environment, id),
    has: hasAgent,
    /** Agents that the viewer may use through a protocol, oldest first, without their tools. */
    throughProtocol: (viewer: Viewer, protocol: ProtocolName) =>
      ofProtocol.of(viewer.project_id, viewer.environment, protocol).filter(({ id }) => mayUse(viewer, id)),
    /** Agents that the viewer may use and whose metadata has this key, oldest first, without their tools. */
    withMetadata: (viewer: Viewer, key: string) =>
      withMetadata.of(viewer.project_id, viewer.environment, key).filter(({ id }) => mayUse(viewer, id)),
    ...pins,
    versions,
    list: (scope: Scope, page: Page, where: readonly Condition[] = []) =>
      listPage(db, { table: agents, kind: "agent", more: { tools: countTools }, scope, page, where }, toAgentItem),
    /** Deletes an agent. Runs continue with the snapshot that they pinned. */
    remove: (author: Author, id: string) =>
      db.write(() => {
        const { name, version } = find(author, id);
        rows.remove(author, id);
        audit.note(author, "agent.deleted", id, { name, version });
        return { id, object: "agent" as const, deleted: true };
      }),
  };
}

const maxCachedAgents = 100;

const newAgent = { id: null, had: [] };

/** Thrown if another request has made the agent in the meantime. */
class MadeMeanwhile extends Error {
  override readonly name = "MadeMeanwhile";
}

/** Names of the fields whose values differ. */
const differing = (before: Record<string, unknown>, after: Record<string, unknown>): string[] =>
  Object.keys(after).filter((name) => !Bun.deepEquals(before[name], after[name]));

const countTools = sql<number>`SELECT count(*) FROM agent_tools a WHERE a.project_id = agents.project_id
  AND a.environment = agents.environment AND a.agent_id = agents.id`;

/** Serializes an agent for lists: with the number of its tools in place of the tools. */
function toAgentItem(row: Row & { tools: number }) {
  const agent = toAgent(row, []);
  return { ...withoutScript(agent), tools: row.tools, tools_count: row.tools };
}

function toAgent(row: Row, tools: ToolReference[]) {
  const { description, instructions, models, model_settings, ...rest } = readDefinition<Definition>(row.definition);
  return {
    id: row.id,
    object: "agent" as const,
    name: row.name,
    description,
    instructions,
    model: row.model,
    models,
    model_settings,
    tools,
    tools_count: tools.length,
    ...rest,
    version: row.version,
    ...changeable(row),
  };
}
