import type { Span } from "../../entities/analytics/analytics-api.ts";
import { DurationsCard, ErrorsCard, OwnedCard, SpendCard, ToolsCard } from "../../entities/analytics/cards.tsx";

/** How runs came along in a period, from what was counted as they ended. */
export function MoreCharts(props: { span: Span; asTable: boolean }) {
  return (
    <>
      <SpendCard {...props} />
      <ErrorsCard {...props} />
      <DurationsCard of="duration" {...props} />
      <DurationsCard of="first_token" {...props} />
      <ToolsCard {...props} />
      <OwnedCard of="webhook" {...props} />
      <OwnedCard of="schedule" {...props} />
    </>
  );
}
