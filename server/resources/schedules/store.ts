import type { AgentChoice } from "../../domain/agent-label.ts";
import { newId } from "../../domain/ids.ts";
import { inputFault } from "../../domain/run-input.ts";
import type { Scope } from "../../domain/scope.ts";
import { agentConditions, requireAgent, type Viewer } from "../../http/auth.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import { listPage, type Page } from "../../http/page.ts";
import { plainInput } from "../../http/plain-input.ts";
import { inputMost } from "../../http/schemas.ts";
import { nameIssues } from "../../http/validate-name.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import { schedules } from "../../storage/db/schema.ts";
import { createScopedTable } from "../../storage/db/scoped-table.ts";
import { timetableFaults } from "./cron.ts";
import { type Definition, definitionOf, noPlan, planAfter, type Row, serializeSchedule } from "./row.ts";
import type { CreateSchedule, UpdateSchedule } from "./schema.ts";

export interface ScheduleStoreOptions extends StoreBase {
  /** Returns the agent and the version that a request names. Throws unless each of them exists. */
  resolveAgent: (viewer: Viewer, reference: AgentNamed) => AgentChoice;
  /** Throws if a run of this agent could not have these parameters. */
  checkRun: (
    viewer: Viewer,
    agent: AgentChoice,
    run: Pick<Definition, "overrides" | "variables" | "user_id" | "session_id">,
  ) => void;
  /** Throws if the input shows files that the viewer does not see. */
  checkInput: (viewer: Viewer, input: Definition["input"]) => void;
  /** Called when a schedule's times changed. */
  onPlan: () => void;
}

type AgentNamed = { agent_id: string } & Partial<Pick<Definition, "version" | "label">>;

export type ScheduleStore = ReturnType<typeof createScheduleStore>;

export function createScheduleStore({
  db,
  audit,
  resolveAgent,
  checkRun,
  checkInput,
  onPlan,
  now = Date.now,
}: ScheduleStoreOptions) {
  const rows = createScopedTable(db, schedules);
  const selectOf = db.sqlite.query<{ id: string }, { project_id: string; environment: string; userId: string }>(
    `SELECT id FROM schedules WHERE project_id = $project_id AND environment = $environment
       AND definition ->> '$.user_id' = $userId LIMIT 1`,
  );

  /** Finds a schedule. Throws for one of another scope, or of an agent that the viewer may not use. */
  function find(viewer: Viewer, id: string): Row {
    const row = rows.find(viewer, id);
    requireAgent(viewer, row.agent_id);
    return row;
  }

  /** Throws with every fault of a new or changed schedule. */
  function check(viewer: Viewer, row: Row, input: UpdateSchedule): void {
    const definition = definitionOf(row);
    const wrong = inputFault(definition.input, inputMost);
    throwIfInvalid([
      ...nameIssues(input.name),
      ...(wrong ? [fault(`input${wrong.path}`, wrong.message)] : []),
      ...(input.cron === undefined && input.timezone === undefined ? [] : timetableFaults(row, now())),
    ]);
    if (input.input !== undefined) checkInput(viewer, definition.input);
    const { agent_id, version, label, overrides, variables, user_id, session_id } = input;
    const isOther = [agent_id, version, label, variables, user_id, session_id].some((given) => given !== undefined);
    if (isOther || overrides) checkRun(viewer, choiceOf(row), definition);
  }

  /** Returns the input with the agent that it names by its id, and with the version that belongs to it. */
  function withAgent<Input extends UpdateSchedule>(viewer: Viewer, input: Input, before: Row | null): Input {
    const { agent_id = before?.agent_id, version, label } = input;
    const isNamed = input.agent_id !== undefined || version !== undefined || label !== undefined;
    return agent_id === undefined || !isNamed
      ? input
      : { ...input, ...resolveAgent(viewer, { agent_id, version: version ?? null, label: label ?? null }) };
  }

  async function create(author: Author & Viewer, given: CreateSchedule) {
    const input = withAgent(author, given, null);
    const at = now();
    const row = applyInput(blank(author, newId("schedule", at), at), input);
    check(author, row, input);
    if (row.enabled) Object.assign(row, planAfter(row, at));
    await db.write(() => {
      rows.insert(author, row);
      audit.note(author, "schedule.created", row.id, { name: row.name, agent_id: row.agent_id, enabled: row.enabled });
    });
    onPlan();
    return serializeSchedule(row);
  }

  async function update(author: Author & Viewer, id: string, given: UpdateSchedule) {
    const known = find(author, id); // Checked first: an unknown schedule is a 404, whatever the body says.
    const input = withAgent(author, given, known);
    check(author, applyInput(known, input), input);
    const row = await db.write(() => {
      const after = replanned(find(author, id), input);
      audit.note(author, "schedule.updated", id, { name: after.name, changes: Object.keys(given) });
      return rows.update(author, id, { ...after, updated_at_ms: now() });
    });
    onPlan();
    return serializeSchedule(row);
  }

  /** Keeps the plan, unless its times changed or it was disabled: then it is planned from now on. */
  function replanned(before: Row, input: UpdateSchedule): Row {
    const after = applyInput(before, input);
    const isReset = input.enabled === true;
    const fresh = isReset ? { failure_count: 0, disabled_reason: null, last_error: null } : {};
    if (!after.enabled)
      return {
        ...after,
        ...noPlan,
        queued_at_ms: null,
        disabled_reason: input.enabled === false ? null : after.disabled_reason,
      };
    const isSameTiming = before.enabled && before.cron === after.cron && before.timezone === after.timezone;
    return { ...after, ...fresh, ...(isSameTiming ? {} : { ...planAfter(after, now()), queued_at_ms: null }) };
  }

  return {
    create,
    update,
    find,
    get: (viewer: Viewer, id: string) => serializeSchedule(find(viewer, id)),
    list: (viewer: Viewer, page: Page) =>
      listPage(
        db,
        { table: schedules, kind: "schedule", scope: viewer, page, where: agentConditions(viewer, "agent_id") },
        serializeSchedule,
      ),
    /** Deletes one schedule whose runs are for this user; false if there is none. Call inside a write. */
    eraseOf(scope: Scope, userId: string): boolean {
      const schedule = selectOf.get({ project_id: scope.project_id, environment: scope.environment, userId });
      if (schedule) rows.remove(scope, schedule.id);
      return schedule !== null;
    },
    /** Deletes a schedule. Runs that it started continue. */
    async remove(author: Author & Viewer, id: string) {
      await db.write(() => {
        const { name, agent_id } = find(author, id);
        rows.remove(author, id);
        audit.note(author, "schedule.deleted", id, { name, agent_id });
      });
      onPlan();
      return { id, object: "schedule" as const, deleted: true };
    },
  };
}

const choiceOf = (row: Row): AgentChoice => {
  const { version = null, label = null } = definitionOf(row);
  return { agent_id: row.agent_id, version, label };
};

const blank = ({ project_id, environment }: Scope, id: string, at: number): Row => ({
  project_id,
  environment,
  id,
  name: "",
  agent_id: "",
  cron: "",
  timezone: "",
  metadata: {},
  definition: { input: "", overrides: null, budget: null, user_id: null, session_id: null },
  enabled: true,
  catch_up: "skip",
  if_busy: "start",
  ...noPlan,
  queued_at_ms: null,
  failure_count: 0,
  disabled_reason: null,
  last_error: null,
  last_run_id: null,
  created_at_ms: at,
  updated_at_ms: at,
});

/** Applies an update to a row. Absent fields stay. */
function applyInput(row: Row, input: UpdateSchedule): Row {
  const { name, agent_id, cron, timezone, enabled, catch_up, if_busy, metadata, input: given, ...rest } = input;
  const own = { ...rest, ...(given !== undefined && { input: plainInput(given) }) };
  const columns = { name, agent_id, cron, timezone, enabled, catch_up, if_busy, metadata };
  const definedColumns = Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
  return {
    ...row,
    ...definedColumns,
    definition: { ...definitionOf(row), ...own },
  };
}
