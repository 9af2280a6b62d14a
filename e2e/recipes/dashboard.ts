import type { Recipe } from "./recipe.ts";

export const dashboardPage: Recipe = {
  title: "Add a page to the dashboard",
  placeholders: { "dashboard/src/features/limits/limits-page.tsx": "dashboard/src/features/<name>/<name>-page.tsx" },
  changes: {
    "dashboard/src/features/limits/limits-page.tsx": `import { useTitle } from "../../hooks/use-title.ts";
import { SheetHead } from "../../ui/dialogs/sheet.tsx";

/** The limits of this server. */
export function LimitsPage() {
  useTitle("Limits");
  return (
    <SheetHead>
      <h1 className="text-lg">Limits</h1>
    </SheetHead>
  );
}
`,
    "dashboard/src/app/routes.tsx": [
      [
        "    runs,\n    run,\n",
        `    at(
      "/limits",
      noSearch,
      () => import("../features/limits/limits-page.tsx").then((it) => it.LimitsPage),
      noSearch,
    ),
    runs,
    run,
`,
      ],
    ],
    "dashboard/src/app/pages.ts": [
      ["  FlaskConical,\n", "  FlaskConical,\n  Gauge,\n"],
      [
        '{ to: "/settings"',
        '{ to: "/limits", label: "Limits", icon: Gauge, guide: "guides/budgets" },\n    { to: "/settings"',
      ],
    ],
    "scripts/screenshots/pages.ts": [
      ['    account: "/account",\n', '    account: "/account",\n    limits: "/limits",\n'],
    ],
  },
};

export const documentationPage: Recipe = {
  title: "Add a page to the documentation",
  placeholders: { "server/docs/explain/example.md": "server/docs/<folder>/<name>.md" },
  changes: {
    "server/docs/explain/example.md":
      "# Example\n\nWhat an example of a page is.\n\n## Next\n\n- [Recipes](../develop/recipes.md)\n",
    "server/docs/index.md": [
      [
        "- [Architecture](develop/architecture.md)\n",
        "- [Architecture](develop/architecture.md)\n- [Example](explain/example.md)\n",
      ],
    ],
  },
};
