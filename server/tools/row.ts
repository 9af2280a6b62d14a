import type { ToolType } from "../core/agent-snapshot.ts";
import type { Scope } from "../core/scope.ts";
import type { Definition } from "./definition.ts";

/** A tool as the table holds it. */
export interface Row extends Scope {
  id: string;
  name: string;
  type: ToolType;
  definition: string;
  /** Headers and signing secret, encrypted; empty where the type has neither. */
  sealed: string;
  metadata: string;
  created_at_ms: number;
  updated_at_ms: number;
}

export const definitionOf = ({ definition }: Pick<Row, "definition">): Definition => JSON.parse(definition);
