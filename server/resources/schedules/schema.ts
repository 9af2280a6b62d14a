import { type Static, Type } from "@sinclair/typebox";
import { busyPolicies, catchUps, outcomes } from "../../domain/api-types/enums.ts";
import { limits } from "../../domain/limits.ts";
import { AgentOverrides, Budget, idOf, Metadata, RunInput, Subject } from "../../http/schemas.ts";
import { oneOf, orNull, partial, partly } from "../../lib/schema.ts";

const required = {
  name: Type.String({ minLength: 1, maxLength: limits.name_length }),
  agent_id: idOf("agent"),
  input: RunInput,
  cron: Type.String({ maxLength: 256 }),
  timezone: Type.String({ maxLength: 64 }),
};

const optional = {
  enabled: Type.Boolean(),
  catch_up: oneOf(catchUps),
  if_busy: oneOf(busyPolicies),
  overrides: orNull(AgentOverrides),
  budget: orNull(Budget),
  user_id: orNull(Subject),
  session_id: orNull(Subject),
  metadata: Metadata,
};

export const CreateSchedule = partly(required, optional);
export type CreateSchedule = Static<typeof CreateSchedule>;

export const UpdateSchedule = partial({ ...required, ...optional });
export type UpdateSchedule = Static<typeof UpdateSchedule>;

export const scheduleFilters = { agent_id: idOf("agent") };
export const firingFilters = { outcome: oneOf(outcomes) };
