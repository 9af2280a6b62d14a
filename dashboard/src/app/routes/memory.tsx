import { useNavigate, useSearch } from "@tanstack/react-router";
import { StoresPage } from "../../features/memory/stores-page.tsx";

/** `/dashboard/memory?kind=&after=&before=`. */
export function MemoryRoute() {
  const search = useSearch({ from: "/shell/memory" });
  const navigate = useNavigate();
  return (
    <StoresPage
      search={search}
      onSearch={(next) => void navigate({ to: "/memory", search: next })}
      onOpen={(memoryId) => void navigate({ to: "/memory/$memoryId", params: { memoryId } })}
    />
  );
}
