import type { Tool } from "../../../../server/resources/tools/schema.ts";
import { ToolCards, ToolsCard } from "../../entities/analytics/cards.tsx";
import { AnalyticsPanel } from "../../entities/analytics/panel.tsx";
import type { PeriodSearch } from "../../entities/analytics/period.ts";

/** Analytics of a tool's calls; for an MCP server, of each of its tools. */
export function ToolAnalytics({
  tool,
  search,
  onPeriod,
}: {
  tool: Tool;
  search: PeriodSearch;
  onPeriod: (period: PeriodSearch) => void;
}) {
  return (
    <AnalyticsPanel search={search} onPeriod={onPeriod}>
      {(span) =>
        tool.type === "mcp" ? (
          <ToolsCard span={span} of={tool.tools ?? []} />
        ) : (
          <ToolCards span={span} name={tool.name} />
        )
      }
    </AnalyticsPanel>
  );
}
