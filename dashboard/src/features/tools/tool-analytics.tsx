import type { Tool } from "../../../../server/tools/schema.ts";
import { ToolCards, ToolsCard } from "../../entities/analytics/cards.tsx";
import { AnalyticsPanel } from "../../entities/analytics/panel.tsx";
import type { PeriodSearch } from "../../entities/analytics/period.ts";

/** How the calls of a tool came along: of an MCP server, those of each of its tools. */
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
