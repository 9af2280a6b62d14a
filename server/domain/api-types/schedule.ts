import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { busyPolicies, catchUps, outcomes, triggers } from "./enums.ts";
import { Input } from "./run.ts";
import { resource } from "./schema.ts";

const Failure = t.named(
  "ScheduleFailure",
  t.object({ code: t.text, message: t.text, at: t.time, run_id: t.orNull(t.text) }),
);

export const Schedule = resource("Schedule", "schedule", {
  name: t.text,
  agent_id: t.text,
  input: Input,
  cron: t.text,
  timezone: t.text,
  enabled: t.boolean,
  catch_up: t.oneOf(catchUps),
  if_busy: t.oneOf(busyPolicies),
  next_run_ats: t.list(t.time),
  last_run_id: t.orNull(t.text),
  last_error: t.orNull(Failure),
  failure_count: t.integer,
  disabled_reason: t.orNull(t.text),
  overrides: t.orNull(t.anyObject),
  budget: t.orNull(t.anyObject),
  user_id: t.orNull(t.text),
  session_id: t.orNull(t.text),
  updated_at: t.time,
});
export type Schedule = Static<typeof Schedule>;

/** Result of one time of a schedule. */
export const ScheduleRun = resource("ScheduleRun", "schedule_run", {
  schedule_id: t.text,
  trigger: t.oneOf(triggers),
  due_at: t.time,
  outcome: t.oneOf(outcomes),
  run_id: t.orNull(t.text),
  error: t.orNull(Failure),
});
export type ScheduleRun = Static<typeof ScheduleRun>;
