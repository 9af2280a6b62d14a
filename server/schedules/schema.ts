import { type Static, Type } from "@sinclair/typebox";
import { idPattern } from "../core/ids.ts";
import { AgentOverrides, Budget, idOf, Metadata, oneOf, orNull, RunInput } from "../http/schemas.ts";

const closed = { additionalProperties: false };

export const catchUps = ["skip", "one"] as const;
export const busyPolicies = ["skip", "queue", "start"] as const;

const Subject = Type.String({ minLength: 1, maxLength: 255 });

const required = {
  name: Type.String({ minLength: 1, maxLength: 128 }),
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

export const outcomes = ["started", "completed", "failed", "cancelled", "skipped", "missed"] as const;
export type Outcome = (typeof outcomes)[number];

export const scheduleFilters = { agent_id: new RegExp(idPattern("agent")) };
export const firingFilters = { outcome: outcomes };
