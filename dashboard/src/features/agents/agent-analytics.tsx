import {
  DurationsCard,
  ErrorsCard,
  OutcomesCard,
  OwnedCard,
  SpendCard,
  ToolsCard,
} from "../../entities/analytics/cards.tsx";
import { AnalyticsPanel } from "../../entities/analytics/panel.tsx";
import type { PeriodSearch } from "../../entities/analytics/period.ts";

/** Charts of an agent's runs in a period. */
export function AgentAnalytics({
  id,
  search,
  onPeriod,
}: {
  id: string;
  search: PeriodSearch;
  onPeriod: (period: PeriodSearch) => void;
}) {
  return (
    <AnalyticsPanel search={search} onPeriod={onPeriod}>
      {(span) => {
        const props = { span, narrowed: { agent_id: id } };
        return (
          <>
            <OutcomesCard {...props} />
            <ErrorsCard {...props} />
            <SpendCard groups={["model", "key", "user"]} {...props} />
            <DurationsCard of="duration" {...props} />
            <DurationsCard of="first_token" {...props} />
            <ToolsCard {...props} />
            <OwnedCard of="webhook" {...props} />
            <OwnedCard of="schedule" {...props} />
          </>
        );
      }}
    </AnalyticsPanel>
  );
}
