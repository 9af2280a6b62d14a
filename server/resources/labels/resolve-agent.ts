import { type AgentChoice, bucketCount, type LabelShare, readAgentName, versionAt } from "../../domain/agent-label.ts";
import { noSuch } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { isId, prefixes } from "../../domain/ids.ts";
import type { RunLabel } from "../../domain/run-event.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import { ambiguousAgent, invalid } from "../../http/errors.ts";
import { sha256 } from "../../lib/hash.ts";
import type { Db } from "../../storage/db/open.ts";

/** An agent as a request names it: by id or name, and its version in one of three ways. */
interface AgentReference {
  agent_id: string;
  version?: number | null | undefined;
  label?: string | null | undefined;
}

/** The version that a run gets; null: the newest. */
export interface ChosenVersion {
  version: number | null;
  label: RunLabel | null;
}

/** Finds the agents that requests name, and the versions of their runs: the only place that reads such names. */
export function createAgentResolver({
  db: { sqlite },
  agentsNamed,
  hasAgent,
}: {
  db: Db;
  /** Returns the ids of agents with a name that the viewer may use. */
  agentsNamed(viewer: Viewer, name: string): string[];
  hasAgent(viewer: Viewer, id: string): boolean;
}) {
  const selectVersion = sqlite.query<unknown, [string, string, string, number]>(
    "SELECT 1 FROM agent_versions WHERE project_id = ? AND environment = ? AND agent_id = ? AND version = ?",
  );
  const selectLabel = sqlite.query<{ id: string; shares: string; revision: number }, [string, string, string, string]>(
    `SELECT id, shares, revision FROM agent_labels
     WHERE project_id = ? AND environment = ? AND agent_id = ? AND name = ?`,
  );

  const hasVersion = ({ project_id, environment }: Scope, id: string, version: number): boolean =>
    selectVersion.get(project_id, environment, id, version) !== null;

  const labelOf = ({ project_id, environment }: Scope, id: string, name: string) =>
    selectLabel.get(project_id, environment, id, name);

  /** Returns the id of a name. Throws 404 if there is none, and 409 if it could be several. */
  function idOfName(viewer: Viewer, text: string, name: string | null, param: string): string {
    // An agent whose own name contains an @ could be meant, or a label.
    const whole = text.includes("@") ? agentsNamed(viewer, text) : [];
    const found = name === null ? [] : agentsNamed(viewer, name);
    const ids = [...new Set([...whole, ...found])];
    const [id] = ids;
    if (id === undefined) throw missing(param, "There is no agent with this name.");
    if (ids.length > 1 || whole.length > 0 || name?.includes("@")) throw ambiguousAgent(param, ids);
    return id;
  }

  /** Reads the text of a reference. Throws if it names no agent, or more than one. */
  function read(viewer: Viewer, text: string, param: string): AgentReference {
    const parts = readAgentName(text);
    const name = parts?.name ?? null;
    const isById = text.startsWith(`${prefixes.agent}_`);
    if (isById && (name === null || !isId("agent", name) || !hasAgent(viewer, name)))
      throw invalid(param, noSuch("agent"));
    const agent_id = isById && name !== null ? name : idOfName(viewer, text, name, param);
    return { agent_id, version: parts?.version, label: parts?.label };
  }

  /** Returns the agent and the version that a request names. Throws unless each of them exists. */
  function resolve(viewer: Viewer, reference: AgentReference, param = "agent_id"): AgentChoice {
    const found = read(viewer, reference.agent_id, param);
    const isPinned = found.version !== undefined || found.label !== undefined;
    const [version, label] = [reference.version ?? null, reference.label ?? null];
    const beside = param.slice(0, param.lastIndexOf(".") + 1);
    if (isPinned && (version !== null || label !== null))
      throw invalid(`${beside}${version === null ? "label" : "version"}`, `${param} names a version already.`);
    if (version !== null && label !== null) throw invalid(`${beside}label`, "Give a version or a label, not both.");
    const choice = {
      agent_id: found.agent_id,
      version: found.version ?? version,
      label: found.label ?? label,
    };
    requireThere(viewer, choice, (field) => (isPinned ? param : `${beside}${field}`));
    return choice;
  }

  function requireThere(
    scope: Scope,
    { agent_id, version, label }: AgentChoice,
    paramOf: (field: "version" | "label") => string,
  ): void {
    if (version !== null && !hasVersion(scope, agent_id, version))
      throw missing(paramOf("version"), `The agent has no version ${version}.`);
    if (label !== null && !labelOf(scope, agent_id, label))
      throw missing(paramOf("label"), `The agent has no label "${label}".`);
  }

  /**
   * Returns the version that a run gets. Runs with the same key (their thread, else their user) get the same one of a
   * label that splits.
   */
  function choose(scope: Scope, choice: AgentChoice, key: string): ChosenVersion {
    const chosen = chooseIfThere(scope, choice, key);
    if (!chosen) throw missing("label", `The agent has no label "${choice.label}".`);
    return chosen;
  }

  /** Returns the same; null if the label is gone. */
  function chooseIfThere(
    scope: Scope,
    { agent_id, version, label: name }: AgentChoice,
    key: string,
  ): ChosenVersion | null {
    if (name === null) return { version, label: null };
    const label = labelOf(scope, agent_id, name);
    if (!label) return null;
    const { id, revision } = label;
    const shares: LabelShare[] = JSON.parse(label.shares);
    return { version: versionAt(shares, bucketOfKey(id, key)), label: { id, name, revision } };
  }

  return { resolve, choose, chooseIfThere, hasVersion };
}

/** Returns the bucket of a key. With the label's id in it, labels split independently of one another. */
export const bucketOfKey = (labelId: string, key: string): number =>
  Number.parseInt(sha256(`${labelId} ${key}`).slice(0, 12), 16) % bucketCount;

const missing = (param: string, message: string): AppError =>
  new AppError("resource_not_found", `${param}: ${message}`, { param });
