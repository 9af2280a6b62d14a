import { type ToolType, toolTypeWords } from "../../../../server/core/agent-snapshot.ts";

/** What people call a type of tools; an agent's version may name one of another time. */
export const toolTypeWord = (type: string): string => toolTypeWords[type as ToolType] ?? type;
