import { type Static, Type } from "@sinclair/typebox";
import { limits } from "../core/limits.ts";
import { AgentOverrides, Budget, idOf, Metadata, RunInput, Subject } from "../http/schemas.ts";
import { oneOf, orNull } from "../lib/schema.ts";
import { busyPolicies, catchUps, outcomes } from "../wire/names.ts";

const closed = { additionalProperties: false };

const required = {
  name: Type.String({ minLength: 1, maxLength: limits.name_length }),
  agent_id: idOf("agent"),
  input: RunInput,
  cron: Type.String({ maxLength: 256 }),
  timezone: Type.String({ maxLength: 64 }),
};

const optional = Type.Partial(
  Type.Object({
    enabled: Type.Boolean(),
    catch_up: oneOf(catchUps),
    if_busy: oneOf(busyPolicies),
    overrides: orNull(AgentOverrides),
    budget: orNull(Budget),
    user_id: orNull(Subject),
    session_id: orNull(Subject),
    metadata: Metadata,
  }),
);

export const CreateSchedule = Type.Composite([Type.Object(required), optional], closed);
export type CreateSchedule = Static<typeof CreateSchedule>;

export const UpdateSchedule = Type.Composite([Type.Partial(Type.Object(required)), optional], closed);
export type UpdateSchedule = Static<typeof UpdateSchedule>;

export const TriggerSchedule = Type.Object({}, closed);

export const scheduleFilters = { agent_id: idOf("agent") };
export const firingFilters = { outcome: oneOf(outcomes) };
