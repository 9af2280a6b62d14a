import type { Project as ProjectDetails } from "../../../../server/wire/console.ts";
import type { AmountSetting } from "./amount-row.tsx";
import { AmountsForm } from "./amounts-form.tsx";
import { UnknownPriceForm } from "./unknown-price-form.tsx";

const budget = (name: string, label: string, hint: string, unit: string): AmountSetting => ({
  ...{ name, label, hint, unit, usual: null, blank: "No limit" },
  choices: [
    { value: "unset", label: "No limit" },
    { value: "own", label: "Number" },
  ],
});

const settings = [
  { ...budget("max_cost_usd", "Cost", "By the prices that the tab Prices shows.", "USD"), fraction: true },
  budget("max_total_tokens", "Tokens", "Prompts and answers together.", "tokens"),
];

/** What each environment of a project may spend on models in a day. */
export function BudgetForm({ project }: { project: ProjectDetails }) {
  return (
    <div className="flex flex-col gap-6">
      <AmountsForm
        project={project}
        group="budget_per_day"
        settings={settings}
        saved={project.budget_per_day}
        act="Save budget"
        rule="A budget is a number above 0; tokens are whole. Choose No limit for none."
      />
      <UnknownPriceForm project={project} />
    </div>
  );
}
