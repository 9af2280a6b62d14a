import { expect, test } from "bun:test";
import type { Variable } from "../../../../server/domain/variable.ts";
import { teamVariables } from "./team-variables.ts";

const variable = (name: string, more: Partial<Variable> = {}): Variable => ({ name, type: "string", ...more });
const agent = (id: string, names: string[], to: string[] = []) => ({
  id,
  variables: names.map((name) => variable(name, { description: id })),
  handoffs: to.map((agent_id) => ({ agent_id, filter: "all" as const })),
});

test("the variables of a run are those of its agent and of all that it may hand over to, each once", () => {
  const desk = agent("desk", ["a"], ["sales", "gone"]);
  const sales = agent("sales", ["b", "a"], ["desk", "refunds"]);
  const refunds = agent("refunds", ["c"]);
  const found = teamVariables(desk, [desk, sales, refunds, agent("other", ["d"])]);
  expect(found.map(({ name, description }) => [name, description])).toEqual([
    ["a", "desk"],
    ["b", "sales"],
    ["c", "refunds"],
  ]);
});
