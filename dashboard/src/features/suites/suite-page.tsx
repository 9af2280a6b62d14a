import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import { ObjectHead } from "../../entities/resource/object-head.tsx";
import { ObjectPage } from "../../entities/resource/object-page.tsx";
import { useMay } from "../../entities/session/use-may.ts";
import { suiteQuery } from "../../entities/suite/suite-api.ts";
import { formatCount } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { Fact, IdFact } from "../../ui/facts.tsx";
import { Time } from "../../ui/time.tsx";
import type { SuiteSearch } from "./read-suites-search.ts";
import { type SuiteAct, SuiteDialogs, SuiteMenu } from "./suite-acts.tsx";
import { SuiteBody } from "./suite-body.tsx";

interface SuitePageProps {
  id: string;
  search: SuiteSearch;
  onSearch: (search: SuiteSearch) => void;
  onOpen: (suiteId: string) => void;
  onLookIn: (mode: Mode) => void;
  onLeave: () => void;
}

/** One suite: the runs that it pins, and what came of each. */
export function SuitePage({ id, search, onSearch, onOpen, onLookIn, onLeave }: SuitePageProps) {
  const mayChange = useMay("member");
  const read = useQuery(suiteQuery(useWorkspace(), id));
  const [act, setAct] = useState<SuiteAct | null>(null);
  return (
    <ObjectPage object={read} noun="suite" list="/suites" id={id} onLookIn={onLookIn}>
      {(suite, stale) => (
        <>
          <ObjectHead
            list="/suites"
            name={suite.name}
            acts={
              <>
                <Button onClick={() => setAct({ kind: "add", suite })}>Add cases</Button>
                <Button kind="primary" onClick={() => setAct({ kind: "run", suite })}>
                  Run suite
                </Button>
                <SuiteMenu suite={suite} onAct={setAct} />
              </>
            }
          >
            <IdFact noun="suite" id={id} />
            <Fact name="Cases">{formatCount(suite.cases.length)}</Fact>
            <Fact name="Updated">
              <Time at={suite.updated_at} />
            </Fact>
            {suite.description && (
              <Fact name="Description">
                <span className="cut" title={suite.description}>
                  {suite.description}
                </span>
              </Fact>
            )}
          </ObjectHead>
          {stale}
          <SuiteBody suite={suite} search={search} mayChange={mayChange} onSearch={onSearch} />
          <SuiteDialogs act={act} onAct={setAct} onOpen={onOpen} onDeleted={onLeave} />
        </>
      )}
    </ObjectPage>
  );
}
