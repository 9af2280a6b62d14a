import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { SuitePage } from "../../features/suites/suite-page.tsx";
import { useSwitchMode } from "../use-switch-mode.ts";

/** `/dashboard/suites/:id?result=&outcome=&case=`. */
export function SuiteRoute() {
  const { suiteId } = useParams({ from: "/shell/suites/$suiteId" });
  const search = useSearch({ from: "/shell/suites/$suiteId" });
  const navigate = useNavigate();
  const switchMode = useSwitchMode();
  return (
    <SuitePage
      key={suiteId}
      id={suiteId}
      search={search}
      onSearch={(next) => void navigate({ to: "/suites/$suiteId", params: { suiteId }, search: next })}
      onOpen={(id) => void navigate({ to: "/suites/$suiteId", params: { suiteId: id } })}
      onLookIn={(mode) => switchMode(mode, { keepPage: true })}
      onLeave={() => void navigate({ to: "/suites" })}
    />
  );
}
