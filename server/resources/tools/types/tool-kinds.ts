import type { TProperties } from "@sinclair/typebox";
import { type ToolType, toolTypes } from "../../../domain/agent-snapshot.ts";
import * as t from "../../../lib/schema.ts";
import * as all from "./all.ts";
import type { HttpDefinition } from "./request.ts";
import type { CommonDefinition, Given, ToolKind } from "./tool-kind.ts";

type Kinds = Pick<typeof all, ToolType>;
type Both<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

const kinds: Record<ToolType, Pick<ToolKind<never, CommonDefinition>, "fields" | "response">> = all;

/** Fields of all types. A field that several types have is the same in all of them. */
export const typeFields = Object.assign({}, ...toolTypes.map((type) => kinds[type].fields)) as Both<
  Kinds[ToolType]["fields"]
>;

/** Output fields of this type beside the common ones. Without a description, a field has that of the input field. */
export const responseFields = (type: ToolType): TProperties =>
  Object.fromEntries(
    Object.entries(kinds[type].response).map(([name, schema]) => [
      name,
      t.about(schema.about ?? kinds[type].fields[name]?.about, schema),
    ]),
  );
export type ResponseFields = Both<Kinds[ToolType]["response"]>;

/** Stored fields of a tool, without name and secrets. Rows of earlier versions lack the optional ones. */
export type Definition = CommonDefinition & {
  /** For http and webhook tools. */
  http: HttpDefinition | null;
} & Partial<Both<ReturnType<Kinds[ToolType]["change"]>>>;

export type AnyToolKind = ToolKind<Given<typeof typeFields>, Definition>;

/** Tool types. Their calls are run by `runners` of the agent loop. */
export const toolKinds: Record<ToolType, AnyToolKind> = all;
