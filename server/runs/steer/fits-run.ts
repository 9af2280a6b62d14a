import type { RunCreated } from "../../domain/run-event.ts";
import type { Viewer } from "../../http/auth.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import type { NewRunOptions } from "../create/new-runs.ts";
import { withRequestTools } from "../create/request-tools.ts";
import type { CreateRun } from "../schema.ts";

interface FitsRunOptions {
  journal: Pick<Journal, "hashOf" | "prepared" | "state">;
  snapshot: NewRunOptions["snapshot"];
}

/** Checks whether a run is one that a request asks for. */
export function createFitsRun({ journal, snapshot }: FitsRunOptions) {
  /** Another snapshot of the run's version means other overrides or tools. */
  function hasAgent(scope: Viewer, { overrides, tools, thread_id }: CreateRun, run: RunCreated): boolean {
    if (!isGiven(overrides) && !isGiven(tools)) return true;
    const agent = snapshot(scope, run.agent_id, overrides, run.agent_version, thread_id);
    return journal.hashOf(withRequestTools(agent, tools)) === run.agent_hash;
  }

  /** Returns whether a run has the version, values, overrides and tools that are given. Throws if they are invalid. */
  return async (scope: Viewer, body: CreateRun, runId: string): Promise<boolean> => {
    if (!hasOwnFields(body)) return true;
    const run = await journal.prepared([runId], async () => journal.state(runId).run);
    return hasVersion(body, run) && hasValues(body, run) && hasAgent(scope, body, run);
  };
}

const hasOwnFields = ({ version, label, variables, overrides, tools }: CreateRun): boolean =>
  version != null || label != null || [variables, overrides, tools].some(isGiven);

const isGiven = (value: object | null | undefined): boolean => Object.keys(value ?? {}).length > 0;

/** A run keeps its version, also when its label has moved. */
const hasVersion = ({ version, label }: CreateRun, run: RunCreated): boolean =>
  (version == null || version === run.agent_version) && (label == null || label === run.label?.name);

const hasValues = ({ variables }: CreateRun, run: RunCreated): boolean =>
  Object.entries(variables ?? {}).every(([name, value]) => run.variables?.[name] === value);
