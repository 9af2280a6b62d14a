import { useNavigate, useSearch } from "@tanstack/react-router";
import { ReferencePage } from "../../features/reference/reference-page.tsx";

/** `/dashboard/reference?op=&q=`. */
export function ReferenceRoute() {
  const search = useSearch({ from: "/shell/reference" });
  const navigate = useNavigate();
  return <ReferencePage search={search} onSearch={(next) => void navigate({ to: "/reference", search: next })} />;
}
