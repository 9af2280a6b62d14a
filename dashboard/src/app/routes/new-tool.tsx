import { useNavigate, useSearch } from "@tanstack/react-router";
import { NewToolPage } from "../../features/tools/new-tool-page.tsx";
import { useWorkspace } from "../../lib/workspace.ts";

/** `/dashboard/tools/new?type=`. */
export function NewToolRoute() {
  const { type } = useSearch({ from: "/shell/tools/new" });
  const navigate = useNavigate();
  const { projectId, mode } = useWorkspace();
  return (
    <NewToolPage
      key={`${projectId} ${mode}`} // What is written for one project and mode is nothing for another.
      type={type}
      onType={(next) => void navigate({ to: "/tools/new", search: { type: next }, replace: true })}
      onCreated={(toolId) => void navigate({ to: "/tools/$toolId", params: { toolId } })}
    />
  );
}
