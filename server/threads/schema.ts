import { type Static, Type } from "@sinclair/typebox";
import { limits } from "../core/limits.ts";
import { InputMessage, Metadata, Subject, SubjectFilter } from "../http/schemas.ts";
import { oneOf, orNull, partial } from "../lib/schema.ts";
import { threadStatuses } from "../wire/names.ts";

const Title = Type.String({ maxLength: limits.title_length });

/** Body of `POST /v1/threads` (contract, section 18). */
export const CreateThread = partial({
  title: orNull(Title),
  user_id: orNull(Subject),
  session_id: orNull(Subject),
  metadata: Metadata,
});
export type CreateThread = Static<typeof CreateThread>;

/** Body of `PATCH /v1/threads/:id`. Whose it is never changes: what one user said would be read by another. */
export const UpdateThread = partial({ title: orNull(Title), metadata: Metadata });
export type UpdateThread = Static<typeof UpdateThread>;

/** Body of `POST /v1/threads/:id/messages`: what was said elsewhere. */
export const CreateMessage = InputMessage;
export type CreateMessage = Static<typeof CreateMessage>;

/** Query parameters by which threads are listed, besides those of every list. */
export const threadFilters = { user_id: SubjectFilter, session_id: SubjectFilter, status: oneOf(threadStatuses) };
