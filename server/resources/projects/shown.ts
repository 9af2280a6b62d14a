import { type Environment, environments } from "../../domain/scope.ts";
import { timestamp, timestampOrNull } from "../../domain/time.ts";
import type { Project } from "./store.ts";

export function serializeProject({ id, name, created_at_ms, archived_at_ms, settings }: Project) {
  const retentionOf = (environment: Environment) => ({
    runs_days: settings.retention?.[environment]?.runs_days ?? null,
    traces_days: settings.retention?.[environment]?.traces_days ?? null,
  });
  return {
    id,
    object: "project" as const,
    name,
    created_at: timestamp(created_at_ms),
    archived_at: timestampOrNull(archived_at_ms),
    limits: {
      reads_per_minute: settings.reads_per_minute ?? null,
      run_creations_per_minute: settings.run_creations_per_minute ?? null,
      writes_per_minute: settings.writes_per_minute ?? null,
      runs_in_progress: settings.runs_in_progress ?? null,
      children_per_run: settings.children_per_run ?? null,
    },
    retention: Object.fromEntries(environments.map((environment) => [environment, retentionOf(environment)])) as Record<
      Environment,
      ReturnType<typeof retentionOf>
    >,
    budget_per_day: {
      max_cost_usd: settings.budget_per_day?.max_cost_usd ?? null,
      max_total_tokens: settings.budget_per_day?.max_total_tokens ?? null,
    },
    origins: settings.origins ?? [],
    unknown_price: settings.unknown_price ?? "refuse",
  };
}
