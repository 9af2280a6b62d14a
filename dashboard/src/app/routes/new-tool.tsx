import { useNavigate, useSearch } from "@tanstack/react-router";
import { NewToolPage } from "../../features/tools/new-tool-page.tsx";

/** `/dashboard/tools/new?type=`. */
export function NewToolRoute() {
  const { type } = useSearch({ from: "/shell/tools/new" });
  const navigate = useNavigate();
  return (
    <NewToolPage
      type={type}
      onType={(next) => void navigate({ to: "/tools/new", search: { type: next }, replace: true })}
      onCreated={(toolId) => void navigate({ to: "/tools/$toolId", params: { toolId } })}
    />
  );
}
