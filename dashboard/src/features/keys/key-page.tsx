import { useQuery } from "@tanstack/react-query";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import { AnalyticsPanel } from "../../entities/analytics/panel.tsx";
import type { PeriodSearch } from "../../entities/analytics/period.ts";
import { keyApi } from "../../entities/key/key-api.ts";
import { ObjectHead } from "../../entities/resource/object-head.tsx";
import { ObjectPage } from "../../entities/resource/object-page.tsx";
import { useNow } from "../../lib/use-now.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Card } from "../../ui/card.tsx";
import { lazyPart } from "../../ui/lazy-part.ts";
import { LoadedPart } from "../../ui/loaded-part.tsx";
import { KeyFacts } from "./key-facts.tsx";
import { KeyPill } from "./key-pill.tsx";

/** Loaded apart, with its charts. */
const KeyAnalytics = lazyPart(() => import("./key-analytics.tsx").then((it) => ({ default: it.KeyAnalytics })));

/** One key: all that is known of it, and how the runs that it asked for came along. */
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
                <LoadedPart>
                  <KeyAnalytics id={id} span={span} />
                </LoadedPart>
              </>
            )}
          </AnalyticsPanel>
        </>
      )}
    </ObjectPage>
  );
}
