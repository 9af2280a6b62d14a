import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import { ObjectPage } from "../../entities/resource/object-page.tsx";
import { useMay } from "../../entities/session/use-may.ts";
import { suiteQuery } from "../../entities/suite/suite-api.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { buttonClass } from "../../ui/button.tsx";
import type { SuiteSearch } from "./read-suites-search.ts";
import type { SuiteAct } from "./suite-acts.ts";
import { SuiteBody } from "./suite-body.tsx";
import { SuiteDialogs } from "./suite-dialogs.tsx";
import { SuiteHead } from "./suite-head.tsx";

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
  const at = useWorkspace();
  const mayChange = useMay("member");
  const read = useQuery(suiteQuery(at, id));
  const [act, setAct] = useState<SuiteAct | null>(null);
  useTitle(read.data?.name ?? "Suite", at.project.name);
  return (
    <ObjectPage
      object={read}
      noun="suite"
      id={id}
      path={`/suites/${encodeURIComponent(id)}`}
      list={
        <Link to="/suites" className={buttonClass()}>
          Go to suites
        </Link>
      }
      onLookIn={onLookIn}
    >
      {(suite, stale) => (
        <>
          <SuiteHead suite={suite} mayChange={mayChange} onAct={setAct} />
          {stale}
          <SuiteBody suite={suite} search={search} mayChange={mayChange} onSearch={onSearch} />
          <SuiteDialogs act={act} onAct={setAct} onOpen={onOpen} onDeleted={onLeave} />
        </>
      )}
    </ObjectPage>
  );
}
