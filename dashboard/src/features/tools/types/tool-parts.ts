import { type ToolType, toolTypes } from "../../../../../server/core/agent-snapshot.ts";
import * as all from "./all.ts";
import type { CommonDraft, ToolPart } from "./tool-part.ts";

type Parts = Pick<typeof all, ToolType>;
type Both<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** A tool while somebody writes it: all fields as they are typed, those of other types too. */
export type ToolDraft = CommonDraft & Both<ReturnType<Parts[ToolType]["draftOf"]>>;

/** Every type of tool. */
export const toolParts: Record<ToolType, ToolPart<object, ToolDraft>> = all;

/** In the order of the choice between them: what needs no address comes first. */
export const shownTypes = [...new Set<ToolType>(["client", ...toolTypes])];
