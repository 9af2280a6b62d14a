import { type Static, Type } from "@sinclair/typebox";
import { busyPolicies, catchUps, outcomes } from "../../domain/api-types/enums.ts";
import {
  AgentOverrides,
  AgentReference,
  Budget,
  changeableChoice,
  EnabledInput,
  GivenName,
  idOf,
  Metadata,
  RunInput,
  Subject,
  VariableValues,
} from "../../http/schemas.ts";
import { nameFilter } from "../../http/set-by-name.ts";
import { about, oneOf, orNull, partial, partly } from "../../lib/schema.ts";

const required = {
  name: GivenName,
  agent_id: about("The agent: its id, or its name, also as `name@label` or `name@version`.", AgentReference),
  input: about("The input of each run.", RunInput),
  cron: about("Five fields: minute, hour, day of month, month, day of week.", Type.String({ maxLength: 256 })),
  timezone: about("A name of the IANA database, such as `Europe/Berlin`.", Type.String({ maxLength: 64 })),
};

const optional = {
  ...changeableChoice,
  enabled: EnabledInput,
  catch_up: about(
    "What happens to missed times: they are skipped, or one run makes up for all of them.",
    oneOf(catchUps),
  ),
  if_busy: about("What happens when a run of the schedule is still in progress.", oneOf(busyPolicies)),
  overrides: about("Overrides of the agent for its runs; null: none.", orNull(AgentOverrides)),
  budget: about("What each run may spend; null: no budget of its own.", orNull(Budget)),
  variables: about("Values of the agent's variables for its runs; null: none.", orNull(VariableValues)),
  user_id: about("The user that its runs belong to; null: none.", orNull(Subject)),
  session_id: about("The session that its runs belong to; null: none.", orNull(Subject)),
  metadata: Metadata,
};

export const CreateSchedule = partly(required, optional);
export type CreateSchedule = Static<typeof CreateSchedule>;

export const UpdateSchedule = partial({ ...required, ...optional });
export type UpdateSchedule = Static<typeof UpdateSchedule>;

export const scheduleFilters = { ...nameFilter, agent_id: about("Only items of this agent.", idOf("agent")) };
export const firingFilters = { outcome: about("Only times with this outcome.", oneOf(outcomes)) };
