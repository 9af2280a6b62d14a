import type { Project as ProjectDetails } from "../../../../server/domain/api-types/console.ts";
import type { AmountSetting } from "./amount-row.tsx";
import { AmountsForm } from "./amounts-form.tsx";
import { UnknownPriceForm } from "./unknown-price-form.tsx";

const budget = (name: string, label: string, hint: string, unit: string): AmountSetting => ({
  name,
  label,
  hint,
  unit,
  usual: null,
  blank: "No limit",
  choices: [
    { value: "unset", label: "No limit" },
    { value: "own", label: "Number" },
  ],
});

const settings = [
  { ...budget("max_cost_usd", "Cost", "Uses the prices in the Prices tab.", "USD"), fraction: true },
  budget("max_total_tokens", "Tokens", "Input and output tokens together.", "tokens"),
];

/** Daily model budget for each mode of a project. */
export function BudgetForm({ project }: { project: ProjectDetails }) {
  return (
    <div className="flex flex-col gap-6">
      <AmountsForm
        project={project}
        group="budget_per_day"
        settings={settings}
        saved={project.budget_per_day}
        act="Save budget"
        rule="Enter a number above 0; tokens are whole numbers. Choose No limit for no budget."
      />
      <UnknownPriceForm project={project} />
    </div>
  );
}
