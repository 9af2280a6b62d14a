import type { tools } from "../db/schema.ts";
import type { Definition } from "./types/tool-kinds.ts";

/** A tool as the table holds it. `sealed` has its headers and its signing secret; empty where the type has neither. */
export type Row = typeof tools.$inferSelect;

export const definitionOf = ({ definition }: Pick<Row, "definition">): Definition => definition as Definition;
