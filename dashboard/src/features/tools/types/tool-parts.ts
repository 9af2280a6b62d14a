import { type ToolType, toolTypes } from "../../../../../server/domain/agent-snapshot.ts";
import * as all from "./all.ts";
import type { CommonDraft, ToolPart } from "./tool-part.ts";

type Parts = Pick<typeof all, ToolType>;
type Both<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** Form state of a tool, including the fields of other types. */
export type ToolDraft = CommonDraft & Both<ReturnType<Parts[ToolType]["draftOf"]>>;

/** Form parts by tool type. */
export const toolParts: Record<ToolType, ToolPart<object, ToolDraft>> = all;

/** Order of the type picker: first the type that needs no address. */
export const shownTypes = [...new Set<ToolType>(["client", ...toolTypes])];
