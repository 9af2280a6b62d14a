import type { Project as ProjectDetails } from "../../../../server/domain/api-types/console.ts";
import { defaultLimits } from "../../../../server/domain/project-settings.ts";
import type { AmountSetting } from "./amount-row.tsx";
import { AmountsForm } from "./amounts-form.tsx";

const limit = (name: keyof typeof defaultLimits, label: string, hint: string, unit: string): AmountSetting => ({
  name,
  label,
  hint,
  unit,
  usual: defaultLimits[name],
  blank: "No limit",
  choices: [
    { value: "unset", label: `Default ${defaultLimits[name]}` },
    { value: "off", label: "No limit" },
    { value: "own", label: "Number" },
  ],
});

const limits = [
  limit("reads_per_minute", "Reads", "GET requests.", "per minute"),
  limit("run_creations_per_minute", "Run creations", "New runs.", "per minute"),
  limit("writes_per_minute", "Other writes", "All other requests.", "per minute"),
  limit("runs_in_progress", "Runs in progress", "Runs that need action do not count.", "at once"),
  limit("children_per_run", "Runs started by one run", "Runs started by its agent tools, at any depth.", "total"),
];

/** Rate and size limits of a project's modes. */
export function LimitsForm({ project }: { project: ProjectDetails }) {
  return (
    <AmountsForm
      project={project}
      group="limits"
      settings={limits}
      saved={project.limits}
      act="Save limits"
      rule="Enter a whole number. Choose No limit for none."
    />
  );
}
