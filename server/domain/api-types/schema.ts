import { type Static, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import type { Kind } from "../ids.ts";
import type { Scope } from "../scope.ts";
import { timestamp } from "../time.ts";
import {
  CreatedAt,
  Environment,
  ErrorCode,
  ErrorMessage,
  HasMore,
  Metadata,
  objectOf,
  ownId,
  ProjectId,
} from "./fields.ts";

/** Keywords that apply to imported data only, and those that repeat a constant. */
const bounds = /^(pattern|patternProperties|additionalProperties|maxLength|maxItems|minimum|maximum)$/;

/** Converts journal fields to API fields: the same, but open and without bounds. */
export function told<T>(fields: T): T {
  if (Array.isArray(fields)) return fields.map(told) as T;
  if (typeof fields !== "object" || fields === null) return fields;
  const open = { ...fields } as Record<string, unknown>; // Keeps TypeBox's symbols.
  for (const [key, value] of Object.entries(fields))
    if (bounds.test(key) || (key === "type" && "const" in fields)) delete open[key];
    else open[key] = told(value);
  return open as T;
}

/** Fields of every response; list items have none of them. */
export const envelope = {
  request_id: t.about("The request's id, as in the header `X-Request-Id`.", t.optional(t.text)),
};

/** Objects whose ids are of another kind than their name says. */
const kindsOfIds: Record<string, Kind> = {
  agent_version: "agent",
  schedule_run: "firing",
  webhook_delivery: "delivery",
  approval: "tool_call",
};

/** Adds the common fields of resources. Resources stay open, because fields may be added at any time. */
export const resource = <const K extends string, F extends TProperties, M extends TSchema = typeof Metadata>(
  component: string,
  kind: K,
  fields: F,
  metadata: M = Metadata as TSchema as M,
) =>
  t.named(
    component,
    t.object({
      id: ownId(kindsOfIds[kind] ?? (kind as string as Kind)),
      object: objectOf(kind),
      ...fields,
      metadata,
      created_at: CreatedAt,
      project_id: ProjectId,
      environment: Environment,
      /** For list items: names of the shortened fields. */
      truncated: t.about("The names of fields that are cut short.", t.optional(t.list(t.text))),
      ...envelope,
    }),
  );

/** Returns the last fields of a row that can be changed. */
export const changeable = <M>(row: Scope & { metadata: M; created_at_ms: number; updated_at_ms: number }) => ({
  metadata: row.metadata,
  created_at: timestamp(row.created_at_ms),
  updated_at: timestamp(row.updated_at_ms),
  project_id: row.project_id,
  environment: row.environment,
});

/** Union, discriminated by a field. */
export const choiceOf = <T extends TSchema>(component: string, field: string, schemas: Record<string, T>) => ({
  ...Type.Union(Object.values(schemas)),
  component,
  discriminator: {
    propertyName: field,
    mapping: Object.fromEntries(
      Object.entries(schemas).map(([value, schema]) => [value, `#/components/schemas/${schema.component}`]),
    ),
  },
});

/** Returns the component name of an event: `run.completed` → `RunCompletedEvent`. */
export const eventName = (event: string, kind = "Event"): string =>
  `${event.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}${kind}`;

/** Schema of a page of a list. */
export const listOf = <T extends TSchema>(item: T) =>
  t.named(
    `${String(item.component).replace(/ListItem$/, "")}List`,
    t.object({
      object: objectOf("list"),
      data: t.about("The items of this page, in the order that `order` asks for.", t.list(item)),
      has_more: HasMore,
      first_id: t.about("The first item's id, for `ending_before`; null on an empty page.", t.orNull(t.text)),
      last_id: t.about("The last item's id, for `starting_after`; null on an empty page.", t.orNull(t.text)),
      ...envelope,
    }),
  );

export type List<T> = Omit<Static<ReturnType<typeof listOf>>, "data"> & { data: T[] };

export const Deleted = t.named(
  "Deleted",
  t.object({
    id: t.about("The id of the deleted object. It is never given to another one.", t.text),
    object: t.about("The kind of object that is gone, such as `agent`.", t.text),
    deleted: t.about("Always true.", t.word(true)),
    ...envelope,
  }),
);
export type Deleted = Static<typeof Deleted>;

/** An error with a code for programs and a message for people. */
export const CodedError = t.named("Failure", t.object({ code: ErrorCode, message: ErrorMessage }));
export const ErrorOrNull = t.about("What went wrong; null where nothing did.", t.orNull(CodedError));
