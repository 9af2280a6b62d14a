import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import type { Budget } from "../../domain/budget-schema.ts";
import { AppError } from "../../domain/errors.ts";
import { judgeModels } from "../../domain/judge-models.ts";
import type { ModelPrice } from "../../domain/price.ts";
import type { ProjectSettings } from "../../domain/project-settings.ts";
import type { Scope } from "../../domain/scope.ts";

interface PriceCheckOptions {
  priceOf(model: string): ModelPrice | null;
  settingsOf(projectId: string): Pick<ProjectSettings, "budget_per_day" | "unknown_price">;
}

/** Throws `budget_needs_price` if a run would be stopped at its first call, because a model's price is unknown. */
export type RequirePrice = (scope: Scope, agent: AgentSnapshot, budget: Budget | null | undefined) => void;

export const createPriceCheck =
  ({ priceOf, settingsOf }: PriceCheckOptions): RequirePrice =>
  ({ project_id }, agent, budget) => {
    const { budget_per_day, unknown_price } = settingsOf(project_id);
    const isOwn = budget?.max_cost_usd !== undefined;
    if ((!isOwn && budget_per_day?.max_cost_usd === undefined) || unknown_price === "allow") return;
    const model = [...(agent.models ?? [agent.model]), ...judgeModels(agent)].find((name) => priceOf(name) === null);
    if (model === undefined) return;
    throw new AppError("budget_needs_price", needsPrice(model, isOwn), {
      param: isOwn ? "budget.max_cost_usd" : null,
      details: { model },
    });
  };

const needsPrice = (model: string, isOwn: boolean): string =>
  `${model} has no known price, so ${isOwn ? "a budget" : "the project's daily budget"} in USD cannot be enforced. The operator can set one: ` +
  `runnel models prices set ${model} --input <usd> --output <usd>.`;
