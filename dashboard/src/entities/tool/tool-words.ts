import { type ToolType, toolTypeWords } from "../../../../server/domain/agent-snapshot.ts";

/** Label of a tool type. Unknown types, as in old agent versions, stay as they are. */
export const toolTypeWord = (type: string): string => toolTypeWords[type as ToolType] ?? type;
