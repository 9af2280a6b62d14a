import type { AgentHandoff, AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { AppError } from "../../domain/errors.ts";
import type { Environment, Scope } from "../../domain/scope.ts";
import { withToolSearch } from "../../domain/tool-search/search-tool.ts";
import type { Viewer } from "../../http/auth.ts";
import { throwIfInvalid } from "../../http/errors.ts";
import type { AgentOverrides } from "../../http/schemas.ts";
import { estimateJsonSize } from "../../lib/estimate-json-size.ts";
import { parseModel } from "../../runtime/models/registry.ts";
import type { Db } from "../../storage/db/open.ts";
import type { agents } from "../../storage/db/schema.ts";
import type { createScopedTable } from "../../storage/db/scoped-table.ts";
import type { ProjectSkills } from "./agent-skills.ts";
import { type AttachedTools, missingToolIssue, requireUniqueNames } from "./attached-tools.ts";
import { checkInstructions, type PinnedSnippetOf } from "./check-templates.ts";
import {
  checkAgent,
  checkJudges,
  checkProviderTools,
  type ModelAvailable,
  modelsIn,
  overrideDefinition,
  pinnedFields,
  readDefinition,
} from "./definition.ts";
import { type ChooseVersion, handoffTools, type PinnedVersion, reachedBy } from "./handoffs.ts";
import { type FactsOf, presentStores } from "./memory-policy.ts";
import { memoryTools } from "./memory-tools.ts";
import type { AgentEdits, Definition } from "./schema.ts";
import { skillTools } from "./skill-tools.ts";
import type { VersionStore } from "./versions.ts";

export interface AgentSnapshotOptions {
  /** Returns the snippet that an agent names, with its text; null if there is none. */
  pinnedSnippet?: PinnedSnippetOf;
  modelAvailable: ModelAvailable;
  /** Tools that a run pins, in the order of `ids`, and the reasons why some are unavailable. */
  toolSnapshots: (scope: Scope, ids: readonly string[]) => Required<Pick<AgentSnapshot, "tools" | "unavailable">>;
}

interface Pinned extends AgentSnapshotOptions {
  pinSkills: ProjectSkills["pin"];
  chooseVersion: ChooseVersion;
  db: Db;
  rows: ReturnType<typeof createScopedTable<typeof agents>>;
  attached: AttachedTools;
  factsOf(scope: Scope): FactsOf;
  versions: VersionStore;
}

/** Builds the snapshots of agents that runs pin. */
export function createAgentSnapshots({
  db,
  rows,
  attached,
  factsOf,
  modelAvailable,
  toolSnapshots,
  pinnedSnippet = () => null,
  pinSkills,
  chooseVersion,
  versions,
}: Pinned) {
  const plain = db.kept.rows(
    (project_id: string, environment: Environment, id: string, version: string, team: string) =>
      buildSnapshot({ project_id, environment }, { agent_id: id, version: versionIn(version) }, {}, JSON.parse(team)),
    { bytesOf: estimateJsonSize },
  );

  // Read for each run.
  const toolsOf = db.kept.rows(
    (project_id: string, environment: Environment, id: string, version: string, team: string) => {
      const scope = { project_id, environment };
      if (!rows.get(scope, id)) return { own: [], ofOthers: [] };
      const others: PinnedVersion[] = JSON.parse(team);
      const idsOf = (agent: PinnedVersion) =>
        definitionAt(scope, agent)
          .tools()
          .map((each) => each.id);
      return { own: idsOf({ agent_id: id, version: versionIn(version) }), ofOthers: others.flatMap(idsOf) };
    },
  );

  /** The agents that a version reaches, as JSON; null if a label has to choose a version of one. */
  const fixedTeam = db.kept.rows((project_id: string, environment: Environment, id: string, version: string) => {
    let hasLabel = false;
    const scope = { project_id, environment };
    const team = reachedFrom(scope, { agent_id: id, version: versionIn(version) }, (handoff) => {
      hasLabel ||= handoff.label !== undefined;
      return handoff.version ?? null;
    });
    return hasLabel ? null : JSON.stringify(team);
  });

  /** Returns the agents that a run of this version reaches, as JSON. `key` chooses between versions of labels. */
  const teamOf = (scope: Scope, agent: PinnedVersion, key: string): string =>
    fixedTeam.of(scope.project_id, scope.environment, agent.agent_id, String(agent.version ?? newest)) ??
    JSON.stringify(
      reachedFrom(scope, agent, ({ agent_id, version = null, label = null }) =>
        chooseVersion(scope, { agent_id, version, label }, key),
      ),
    );

  /** Returns what a version of the agent is. Throws if there is none. */
  function definitionAt(scope: Scope, { agent_id: id, version }: PinnedVersion) {
    const row = rows.find(scope, id);
    if (version === null || version === row.version) {
      const { name, model, definition } = row;
      const tools = () => attached.of(scope, id);
      return { name, model, version: row.version, stored: readDefinition<Definition>(definition), tools };
    }
    const { name, model, tools, ...stored } = versions.definition(scope, id, version);
    return { name, model, version, stored, tools: () => tools };
  }

  /** Throws for a tool or model that no agent of an agent-bound key uses. */
  function requireOwn(scope: Viewer, { tools = [], ...named }: AgentOverrides, prefix = "overrides."): void {
    if (!scope.agent_ids) return;
    const own = scope.agent_ids.flatMap((id) => rows.get(scope, id) ?? []);
    const known = new Set(own.flatMap(({ id }) => attached.of(scope, id)).map(({ id }) => id));
    throwIfInvalid(tools.flatMap((id, i) => (known.has(id) ? [] : [missingToolIssue(`${prefix}tools[${i}]`)])));
    const ownModels = new Set(
      own.flatMap(({ model, definition }) => [model, ...(readDefinition(definition).models ?? [])]),
    );
    const param = `${prefix}${named.models ? "models" : "model"}`;
    if (modelsIn(named).some((model) => !ownModels.has(model)))
      throw new AppError("model_not_available", `${param}: None of this key's agents has this model.`, { param });
  }

  /** Returns the agents that runs of this version can reach by handoffs. Throws if there is no such version. */
  function reachedFrom(
    scope: Scope,
    agent: PinnedVersion,
    versionOf: (handoff: AgentHandoff) => number | null | undefined,
  ): PinnedVersion[] {
    return reachedBy(
      agent,
      (each) => (rows.get(scope, each.agent_id) ? (definitionAt(scope, each).stored.handoffs ?? []) : []),
      (handoff) => (rows.get(scope, handoff.agent_id) ? versionOf(handoff) : undefined),
    );
  }

  /** Returns a version of the agent with the agents that its runs can reach by handoffs. */
  function buildSnapshot(
    scope: Scope,
    agent: PinnedVersion,
    overrides: AgentOverrides,
    reached: readonly PinnedVersion[],
  ): AgentSnapshot {
    const all = new Map([agent, ...reached].map((each) => [each.agent_id, each]));
    const own = buildAlone(scope, agent, overrides, all);
    return reached.length === 0 ? own : { ...own, team: reached.map((each) => buildAlone(scope, each, {}, all)) };
  }

  function buildAlone(
    scope: Scope,
    agent: PinnedVersion,
    overrides: AgentOverrides,
    all: ReadonlyMap<string, PinnedVersion>,
  ): AgentSnapshot {
    const row = definitionAt(scope, agent);
    checkAgent(overrides, scope.environment, modelAvailable, "overrides.");
    const { tools: toolIds, model: one, models: several, ...different } = overrides;
    const { stored } = row;
    const models = several ?? (one === undefined ? stored.models : undefined);
    const model = models?.[0] ?? one ?? row.model;
    const model_settings = settingsAt(model, { model: row.model, settings: stored.model_settings });
    const definition = overrideDefinition({ ...stored, models, model_settings }, different);
    const { memory } = definition;
    checkJudges(models ?? [model], definition.guardrails);
    const references = toolIds ? attached.require(scope, toolIds, "overrides.") : row.tools();
    if (toolIds) requireUniqueNames(memory, references, factsOf(scope), "overrides.");
    const { tools, unavailable } = toolSnapshots(
      scope,
      references.map((each) => each.id),
    );
    if (model !== row.model || several || toolIds)
      for (const each of models ?? [model])
        checkProviderTools(each, definition.provider_tools, tools.length > 0, "overrides.");
    const names = new Set(tools.map(({ name }) => name));
    const ofMemory = memory ? memoryTools(presentStores(memory, factsOf(scope)), names) : [];
    const snippets = definition.snippets.flatMap((reference) => pinnedSnippet(scope, reference) ?? []);
    if (overrides.instructions !== undefined)
      checkInstructions(overrides.instructions, { variables: definition.variables, snippets }, "overrides.");
    for (const { name } of ofMemory) names.add(name);
    const skills = pinSkills(scope, definition.skills);
    const ofSkills = skillTools(skills, names);
    for (const { name } of ofSkills) names.add(name);
    const ofHandoffs = handoffTools(definition.handoffs, targetIn(scope, all), names);
    const { instructions, settings, max_turns, ...rest } = pinnedFields(definition, factsOf(scope));
    const snapshot: AgentSnapshot = {
      id: agent.agent_id,
      version: row.version,
      name: row.name,
      model,
      instructions,
      settings,
      tools: [...tools, ...ofMemory, ...ofSkills, ...ofHandoffs],
      max_turns,
      ...rest,
      ...(snippets.length > 0 && { snippets }),
      ...(skills.length > 0 && { skills }),
      ...(unavailable.length > 0 && { unavailable }),
    };
    return withToolSearch(snapshot, definition.tool_loading);
  }

  const targetIn = (scope: Scope, all: ReadonlyMap<string, PinnedVersion>) => (id: string) => {
    const agent = all.get(id);
    if (!agent || !rows.get(scope, id)) return null;
    const { name, stored } = definitionAt(scope, agent);
    return { name, description: stored.description };
  };

  return {
    /**
     * Returns a version of the agent (null: the newest) as a run pins it, with the run's overrides applied. `key` chooses
     * between the versions of labels that its handoffs name.
     */
    snapshot(
      scope: Viewer,
      id: string,
      overrides: AgentOverrides = {},
      version: number | null = null,
      key = "",
    ): AgentSnapshot {
      const agent = { agent_id: id, version };
      const { project_id, environment } = scope;
      if (Object.keys(overrides).length === 0)
        return plain.of(project_id, environment, id, String(version ?? newest), teamOf(scope, agent, key));
      rows.find(scope, id);
      requireOwn(scope, overrides);
      return buildSnapshot(scope, agent, overrides, JSON.parse(teamOf(scope, agent, key)));
    },
    /** Ids of the tools that a run of this version would have; empty if there is no such agent. */
    toolIds(
      scope: Scope,
      id: string,
      { tools }: AgentOverrides = {},
      version: number | null = null,
      key = "",
    ): readonly string[] {
      const { project_id, environment } = scope;
      const team = teamOf(scope, { agent_id: id, version }, key);
      const { own, ofOthers } = toolsOf.of(project_id, environment, id, String(version ?? newest), team);
      return tools ? [...tools, ...ofOthers] : [...own, ...ofOthers];
    },
    /** Applies edits to a pinned snapshot for another run. Throws if the edited model is not available. */
    edited(scope: Viewer, agent: AgentSnapshot, edits: AgentEdits): AgentSnapshot {
      const { instructions = agent.instructions } = edits;
      const { models, ...others } = agent;
      requireOwn(scope, edits, "edits.");
      if (edits.instructions !== undefined) checkInstructions(edits.instructions, agent, "edits.");
      const several = edits.models ?? (edits.model === undefined ? models : undefined);
      const model = several?.[0] ?? edits.model ?? agent.model;
      const named = edits.models ? { models: edits.models, ...(edits.model && { model: edits.model }) } : { model };
      checkAgent({ instructions, ...named }, scope.environment, modelAvailable, "edits.");
      checkJudges(several ?? [model], agent.guardrails ?? []);
      for (const each of edits.models ?? (model === agent.model ? [] : [model]))
        checkProviderTools(each, agent.provider_tools ?? [], agent.tools.length > 0, "edits.");
      const settings = settingsAt(model, agent);
      return { ...others, instructions, model, settings, ...(several && { models: several }) };
    },
  };
}

const newest = "newest";

const versionIn = (text: string): number | null => (text === newest ? null : Number(text));

/**
 * Returns the settings for a model that replaces the agent's own. Another connection's server gets neither the headers,
 * which may have secrets, nor the fields and options, which suit only the agent's server.
 */
function settingsAt(model: string, { model: own, settings }: Pick<AgentSnapshot, "model" | "settings">) {
  const [before, after] = [parseModel(own), parseModel(model)];
  if (before?.provider === after?.provider && before?.connection === after?.connection) return settings;
  const { headers: _, extra_body: __, provider_options: ___, ...common } = settings;
  return common;
}
