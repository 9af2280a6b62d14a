import { type Static, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { environments, type Scope } from "../core/scope.ts";
import { timestamp } from "../core/time.ts";
import * as t from "../lib/schema.ts";

/** What holds only for what comes from elsewhere, and what a constant says twice. */
const bounds = /^(pattern|patternProperties|additionalProperties|maxLength|maxItems|minimum|maximum)$/;

/** Fields of the record as the API tells them: the same, but open and without bounds. */
export function told<T>(fields: T): T {
  if (Array.isArray(fields)) return fields.map(told) as T;
  if (typeof fields !== "object" || fields === null) return fields;
  const open = { ...fields } as Record<string, unknown>; // With the marks that TypeBox puts on it.
  for (const [key, value] of Object.entries(fields))
    if (bounds.test(key) || (key === "type" && "const" in fields)) delete open[key];
    else open[key] = told(value);
  return open as T;
}

/** The shape on the wire: what the core makes must fit it, and have no field that it lacks. */
export type Told<Wire, _Made extends Wire & { [Field in Exclude<keyof _Made, keyof Wire>]: never }> = Wire;

/** Beside the rest of every response; the items of a list have none of their own. */
export const envelope = { request_id: t.optional(t.text) };

/** What every resource has around its own fields. They stay open, since fields may be added at any time. */
export const resource = <const K extends string, F extends TProperties, M extends TSchema = typeof t.text>(
  component: string,
  kind: K,
  fields: F,
  ofMetadata: M = t.text as TSchema as M,
) =>
  t.named(
    component,
    t.object({
      id: t.text,
      object: t.word(kind),
      ...fields,
      metadata: t.map(ofMetadata),
      created_at: t.time,
      project_id: t.text,
      environment: t.oneOf(environments),
      /** Of items of lists: the fields that are not there in full. */
      truncated: t.optional(t.list(t.text)),
      ...envelope,
    }),
  );

/** The same of a row that can be changed: what comes last. */
export const changeable = <M>(row: Scope & { metadata: M; created_at_ms: number; updated_at_ms: number }) => ({
  metadata: row.metadata,
  created_at: timestamp(row.created_at_ms),
  updated_at: timestamp(row.updated_at_ms),
  project_id: row.project_id,
  environment: row.environment,
});

/** One of these, by the word that stands in a field. */
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

/** What the shape of an event is called: `run.completed` → `RunCompletedEvent`. */
export const eventName = (event: string, kind = "Event"): string =>
  `${event.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}${kind}`;

/** A page of these. */
export const listOf = <T extends TSchema>(item: T) =>
  t.named(
    `${String(item.component).replace(/ListItem$/, "")}List`,
    t.object({
      object: t.word("list"),
      data: t.list(item),
      has_more: t.boolean,
      first_id: t.orNull(t.text),
      last_id: t.orNull(t.text),
      ...envelope,
    }),
  );

export type List<T> = Omit<Static<ReturnType<typeof listOf>>, "data"> & { data: T[] };

export const Deleted = t.named("Deleted", t.object({ id: t.text, object: t.text, deleted: t.word(true), ...envelope }));
export type Deleted = Static<typeof Deleted>;

/** A code to decide by, and a sentence to read. */
export const CodedError = t.named("Failure", t.object({ code: t.text, message: t.text }));
