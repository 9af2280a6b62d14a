import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { busyPolicies, catchUps, outcomes, triggers } from "./enums.ts";
import { AgentId, At, Enabled, ErrorCode, ErrorMessage, Name, UpdatedAt } from "./fields.ts";
import { Input } from "./run.ts";
import { resource } from "./schema.ts";

const Failure = t.named(
  "ScheduleFailure",
  t.object({
    code: ErrorCode,
    message: ErrorMessage,
    at: At,
    run_id: t.about("Id of the run that was started: `run_…`; null where none was.", t.orNull(t.text)),
  }),
);

export const Schedule = resource("Schedule", "schedule", {
  name: Name,
  agent_id: AgentId,
  version: t.about(
    "The version of the agent; null: the newest at each run, or that of the label.",
    t.orNull(t.integer),
  ),
  label: t.about("The label of the agent that chooses the version at each run; null: none.", t.orNull(t.text)),
  input: t.about("The input of each run.", Input),
  cron: t.about("Five fields: minute, hour, day of month, month, day of week.", t.text),
  timezone: t.about("A name of the IANA database, such as `Europe/Berlin`.", t.text),
  enabled: Enabled,
  catch_up: t.about(
    "What happens to missed times: they are skipped, or one run makes up for all of them.",
    t.oneOf(catchUps),
  ),
  if_busy: t.about("What happens when a run of the schedule is still in progress.", t.oneOf(busyPolicies)),
  next_run_ats: t.about("When it starts its next five runs, in UTC.", t.list(t.time)),
  last_run_id: t.about("Its newest run; null where there is none.", t.orNull(t.text)),
  last_error: t.about("Why a time of the schedule failed most recently; null: none did.", t.orNull(Failure)),
  failure_count: t.about("How often it failed in a row.", t.integer),
  disabled_reason: t.about("Why it is off; null while it is on.", t.orNull(t.text)),
  overrides: t.about("Overrides of the agent for its runs; null: none.", t.orNull(t.anyObject)),
  budget: t.about("What each run may spend; null: no budget of its own.", t.orNull(t.anyObject)),
  variables: t.about("Values of the agent's variables for its runs; null: none.", t.orNull(t.anyObject)),
  user_id: t.about("The user that its runs belong to; null: none.", t.orNull(t.text)),
  session_id: t.about("The session that its runs belong to; null: none.", t.orNull(t.text)),
  updated_at: UpdatedAt,
});
export type Schedule = Static<typeof Schedule>;

/** Result of one time of a schedule. */
export const ScheduleRun = resource("ScheduleRun", "schedule_run", {
  schedule_id: t.about("Id of the schedule whose time it was: `sch_…`.", t.text),
  trigger: t.about("Why the run was started: scheduled, for a missed time, or manually.", t.oneOf(triggers)),
  due_at: t.about("When the run was to start, by the schedule's `cron` and `timezone`.", t.time),
  outcome: t.about("How this time ended, or `started` while its run goes on.", t.oneOf(outcomes)),
  run_id: t.about("Id of the run that was started: `run_…`; null where none was.", t.orNull(t.text)),
  error: t.about("What went wrong; null where nothing did.", t.orNull(Failure)),
});
export type ScheduleRun = Static<typeof ScheduleRun>;
