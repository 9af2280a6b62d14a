import type { Span } from "../../entities/analytics/analytics-api.ts";
import { DurationsCard, ErrorsCard, OwnedCard, SpendCard, ToolsCard } from "../../entities/analytics/cards.tsx";

/** Charts of the runs of a period, from metrics recorded when runs end. */
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
