import { useNavigate, useSearch } from "@tanstack/react-router";
import { ApprovalsPage } from "../../features/approvals/approvals-page.tsx";

/** `/dashboard/approvals?needs=&after=&before=`. */
export function ApprovalsRoute() {
  const search = useSearch({ from: "/shell/approvals" });
  const navigate = useNavigate();
  return <ApprovalsPage search={search} onSearch={(next) => void navigate({ to: "/approvals", search: next })} />;
}
