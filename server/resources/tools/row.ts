import type { tools } from "../../storage/db/schema.ts";
import type { Definition } from "./types/tool-kinds.ts";

/** A tool row. `sealed` has its headers and signing secret; empty if the type has neither. */
export type Row = typeof tools.$inferSelect;

export const definitionOf = ({ definition }: Pick<Row, "definition">): Definition => definition as Definition;
