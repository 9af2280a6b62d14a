import { useNavigate, useSearch } from "@tanstack/react-router";
import { SuitesPage } from "../../features/suites/suites-page.tsx";

/** `/dashboard/suites?after=&before=`. */
export function SuitesRoute() {
  const search = useSearch({ from: "/shell/suites" });
  const navigate = useNavigate();
  return (
    <SuitesPage
      search={search}
      onSearch={(next) => void navigate({ to: "/suites", search: next })}
      onOpen={(suiteId) => void navigate({ to: "/suites/$suiteId", params: { suiteId } })}
    />
  );
}
