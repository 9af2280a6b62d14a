import type { Static } from "@sinclair/typebox";
import { anyObject, integer, named, object, text, time } from "./schema.ts";

export const Event = named("Event", object({ seq: integer, event: text, at: time, data: anyObject }));
export type Event = Static<typeof Event>;
