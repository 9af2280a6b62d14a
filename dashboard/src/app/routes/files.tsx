import { useNavigate, useSearch } from "@tanstack/react-router";
import { FilesPage } from "../../features/files/files-page.tsx";

/** `/dashboard/files?status=&purpose=&file=&after=&before=`. */
export function FilesRoute() {
  const search = useSearch({ from: "/shell/files" });
  const navigate = useNavigate();
  return <FilesPage search={search} onSearch={(next) => void navigate({ to: "/files", search: next })} />;
}
