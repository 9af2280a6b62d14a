import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Environment as Mode } from "../../../../server/domain/scope.ts";
import { ObjectHead } from "../../entities/crud/object-head.tsx";
import { ObjectPage } from "../../entities/crud/object-page.tsx";
import { usePermission } from "../../entities/session/use-may.ts";
import { suiteQuery } from "../../entities/suite/suite-api.ts";
import { formatCount } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Description, IdDescription } from "../../ui/data/description-list.tsx";
import { Time } from "../../ui/data/time.tsx";
import { Button } from "../../ui/forms/button.tsx";
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

/** Page of one suite: its cases and their outcomes. */
export function SuitePage({ id, search, onSearch, onOpen, onLookIn, onLeave }: SuitePageProps) {
  const mayChange = usePermission("member");
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
            <IdDescription noun="suite" id={id} />
            <Description name="Cases">{formatCount(suite.cases.length)}</Description>
            <Description name="Updated">
              <Time at={suite.updated_at} />
            </Description>
            {suite.description && (
              <Description name="Description">
                <span className="cut" title={suite.description}>
                  {suite.description}
                </span>
              </Description>
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
