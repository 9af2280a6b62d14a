import type { Static } from "@sinclair/typebox";
import { busyPolicies, catchUps, outcomes, triggers } from "./names.ts";
import { Input } from "./run.ts";
import { anyObject, boolean, integer, list, object, oneOf, orNull, resource, text, time } from "./schema.ts";

const Failure = object({ code: text, message: text, at: time, run_id: orNull(text) });

export const Schedule = resource("Schedule", "schedule", {
  name: text,
  agent_id: text,
  input: Input,
  cron: text,
  timezone: text,
  enabled: boolean,
  catch_up: oneOf(catchUps),
  if_busy: oneOf(busyPolicies),
  next_run_ats: list(time),
  last_run_id: orNull(text),
  last_error: orNull(Failure),
  failure_count: integer,
  disabled_reason: orNull(text),
  overrides: orNull(anyObject),
  budget: orNull(anyObject),
  user_id: orNull(text),
  session_id: orNull(text),
  updated_at: time,
});
export type Schedule = Static<typeof Schedule>;

/** The result of one of a schedule's times. */
export const ScheduleRun = resource("ScheduleRun", "schedule_run", {
  schedule_id: text,
  trigger: oneOf(triggers),
  due_at: time,
  outcome: oneOf(outcomes),
  run_id: orNull(text),
  error: orNull(Failure),
});
export type ScheduleRun = Static<typeof ScheduleRun>;
