import { useNavigate, useSearch } from "@tanstack/react-router";
import { FilesPage } from "../../features/files/files-page.tsx";
import { useWorkspace } from "../../lib/workspace.ts";

/** `/dashboard/files?status=&purpose=&file=&after=&before=`. */
export function FilesRoute() {
  const search = useSearch({ from: "/shell/files" });
  const navigate = useNavigate();
  const { projectId, mode } = useWorkspace();
  return (
    <FilesPage
      // What waits to be uploaded is of this project and mode.
      key={`${projectId}/${mode}`}
      search={search}
      onSearch={(next) => void navigate({ to: "/files", search: next })}
    />
  );
}
