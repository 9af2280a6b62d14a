import type { Span } from "../../entities/analytics/analytics-api.ts";
import { OutcomesCard, SpendCard } from "../../entities/analytics/cards.tsx";

/** Charts of the outcomes and costs of a key's runs. */
export function KeyAnalytics({ id, span }: { id: string; span: Span }) {
  const props = { span, narrowed: { name: id }, listed: { key: id } };
  return (
    <>
      <OutcomesCard group_by="key" {...props} />
      <SpendCard groups={["key"]} {...props} />
    </>
  );
}
