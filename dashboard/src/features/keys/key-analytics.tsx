import type { Span } from "../../entities/analytics/analytics-api.ts";
import { OutcomesCard, SpendCard } from "../../entities/analytics/cards.tsx";

/** How the runs that a key asked for came along, and what they cost. */
export function KeyAnalytics({ id, span }: { id: string; span: Span }) {
  const props = { span, narrowed: { name: id }, listed: { key: id } };
  return (
    <>
      <OutcomesCard group_by="key" {...props} />
      <SpendCard groups={["key"]} {...props} />
    </>
  );
}
