import { type Static, Type } from "@sinclair/typebox";
import { threadStatuses } from "../../domain/api-types/enums.ts";
import { limits } from "../../domain/limits.ts";
import { InputMessage, Metadata, Subject, SubjectFilter, VariableValues } from "../../http/schemas.ts";
import { about, closedObject, oneOf, orNull, partial } from "../../lib/schema.ts";

const Title = Type.String({ maxLength: limits.title_length });

const ThreadVariables = about(
  "Values of variables for its runs, which a run can replace. Those that an agent does not have are left out; null: none.",
  orNull(VariableValues),
);

/** Body of `POST /v1/threads` (contract, section 18). */
export const CreateThread = partial({
  title: about("A heading for people, in lists and in the dashboard; null: none.", orNull(Title)),
  user_id: about(
    "Whom it is for, by the id that your application gives the user; null: nobody in particular.",
    orNull(Subject),
  ),
  session_id: about("The session that it is part of, by a name of your own; null: none.", orNull(Subject)),
  variables: ThreadVariables,
  metadata: Metadata,
});
export type CreateThread = Static<typeof CreateThread>;

/** Body of `PATCH /v1/threads/:id`. The user cannot be changed: another one would read the messages. */
export const UpdateThread = partial({
  title: about("A heading for people, in lists and in the dashboard; null: none.", orNull(Title)),
  variables: ThreadVariables,
  metadata: Metadata,
});
export type UpdateThread = Static<typeof UpdateThread>;

/** Body of `POST /v1/threads/:id/messages`: a message from outside of runs. */
export const CreateMessage = closedObject({
  ...InputMessage.properties,
  tool_calls: about("The tools that the model asked for.", InputMessage.properties.tool_calls),
  tool_call_id: about("The call whose result this is.", InputMessage.properties.tool_call_id),
});
export type CreateMessage = Static<typeof CreateMessage>;

/** Filters of the list of threads. */
export const threadFilters = {
  user_id: about("Only items of this user.", SubjectFilter),
  session_id: about("Only items of this session.", SubjectFilter),
  status: about("Only items with this status.", oneOf(threadStatuses)),
};
