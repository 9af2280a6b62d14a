import type { TProperties } from "@sinclair/typebox";
import { type ToolType, toolTypes } from "../../core/agent-snapshot.ts";
import * as t from "../../lib/schema.ts";
import * as all from "./all.ts";
import type { HttpDefinition } from "./request.ts";
import type { CommonDefinition, Given, ToolKind } from "./tool-kind.ts";

type Kinds = Pick<typeof all, ToolType>;
type Both<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

const kinds: Record<ToolType, Pick<ToolKind<never, CommonDefinition>, "fields" | "told" | "about">> = all;

const described = (type: ToolType, part: "fields" | "told"): TProperties => {
  const { about = {}, [part]: schemas } = kinds[type];
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, t.about(about[name], schema)]));
};

/** The fields of all types. A field that several types have is the same in all. */
export const ownFields = Object.assign({}, ...toolTypes.map((type) => described(type, "fields"))) as Both<
  Kinds[ToolType]["fields"]
>;

/** What clients see of a tool of this type beside the fields of all tools. */
export const toldFields = (type: ToolType): TProperties => described(type, "told");
export type ToldFields = Both<Kinds[ToolType]["told"]>;

/** What stands in a tool's row, but for its name and its secrets. Rows of earlier versions lack what is optional. */
export type Definition = CommonDefinition & {
  /** Of http and webhook tools. */
  http: HttpDefinition | null;
} & Partial<Both<ReturnType<Kinds[ToolType]["change"]>>>;

export type AnyToolKind = ToolKind<Given<typeof ownFields>, Definition>;

/** What each type of tool is. How its calls run is `runners` of the worker. */
export const toolKinds: Record<ToolType, AnyToolKind> = all;
