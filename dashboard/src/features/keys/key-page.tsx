import { useQuery } from "@tanstack/react-query";
import type { Environment as Mode } from "../../../../server/domain/scope.ts";
import { AnalyticsPanel } from "../../entities/analytics/panel.tsx";
import type { PeriodSearch } from "../../entities/analytics/period.ts";
import { ObjectHead } from "../../entities/crud/object-head.tsx";
import { ObjectPage } from "../../entities/crud/object-page.tsx";
import { keyApi } from "../../entities/key/key-api.ts";
import { useNow } from "../../hooks/use-now.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Card } from "../../ui/data/card.tsx";
import { LazyBoundary } from "../../ui/feedback/lazy-boundary.tsx";
import { lazyPart } from "../../ui/lazy-part.ts";
import { KeyFacts } from "./key-facts.tsx";
import { KeyPill } from "./key-pill.tsx";

/** A lazy chunk, because it contains the charts. */
const KeyAnalytics = lazyPart(() => import("./key-analytics.tsx").then((it) => ({ default: it.KeyAnalytics })));

/** One key: its details, and the analytics of its runs. */
export function KeyPage({
  id,
  search,
  onSearch,
  onLookIn,
}: {
  id: string;
  search: PeriodSearch;
  onSearch: (search: PeriodSearch) => void;
  onLookIn: (mode: Mode) => void;
}) {
  const read = useQuery(keyApi.one(useWorkspace(), id));
  const now = useNow(false);
  return (
    <ObjectPage object={read} noun="API key" list="/keys" id={id} onLookIn={onLookIn}>
      {(key) => (
        <>
          <ObjectHead list="/keys" name={key.name} pills={<KeyPill apiKey={key} inLine />} />
          <AnalyticsPanel search={search} onPeriod={onSearch}>
            {(span) => (
              <>
                <Card title="Details">
                  <div className="px-4 py-3">
                    <KeyFacts apiKey={key} now={now} />
                  </div>
                </Card>
                <LazyBoundary>
                  <KeyAnalytics id={id} span={span} />
                </LazyBoundary>
              </>
            )}
          </AnalyticsPanel>
        </>
      )}
    </ObjectPage>
  );
}
