import { type Static, Type } from "@sinclair/typebox";
import { threadStatuses } from "../../domain/api-types/enums.ts";
import { limits } from "../../domain/limits.ts";
import { InputMessage, Metadata, Subject, SubjectFilter } from "../../http/schemas.ts";
import { oneOf, orNull, partial } from "../../lib/schema.ts";

const Title = Type.String({ maxLength: limits.title_length });

/** Body of `POST /v1/threads` (contract, section 18). */
export const CreateThread = partial({
  title: orNull(Title),
  user_id: orNull(Subject),
  session_id: orNull(Subject),
  metadata: Metadata,
});
export type CreateThread = Static<typeof CreateThread>;

/** Body of `PATCH /v1/threads/:id`. The user cannot be changed: another one would read the messages. */
export const UpdateThread = partial({ title: orNull(Title), metadata: Metadata });
export type UpdateThread = Static<typeof UpdateThread>;

/** Body of `POST /v1/threads/:id/messages`: a message from outside of runs. */
export const CreateMessage = InputMessage;
export type CreateMessage = Static<typeof CreateMessage>;

/** Filters of the list of threads. */
export const threadFilters = { user_id: SubjectFilter, session_id: SubjectFilter, status: oneOf(threadStatuses) };
