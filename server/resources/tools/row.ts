import type { tools } from "../../storage/db/schema.ts";
import { type Definition, type McpDefinition, requireSettings } from "./types/tool-kind.ts";

/** A tool row. `sealed` has its headers and signing secret; empty if the type has neither. */
export type Row = typeof tools.$inferSelect;

export const definitionOf = ({ definition }: Pick<Row, "definition">): Definition => definition as Definition;

/** Returns the settings of a row that is an MCP server. */
export const serverOf = (row: Pick<Row, "definition">): McpDefinition => requireSettings(definitionOf(row).mcp);
