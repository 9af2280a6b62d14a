import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { StorePage } from "../../features/memory/store-page.tsx";
import { useSwitchMode } from "../use-switch-mode.ts";

/** `/dashboard/memory/:id?tab=&of=&status=&q=&mode=&filter=&after=&before=`. */
export function MemoryStoreRoute() {
  const { memoryId } = useParams({ from: "/shell/memory/$memoryId" });
  const search = useSearch({ from: "/shell/memory/$memoryId" });
  const navigate = useNavigate();
  const switchMode = useSwitchMode();
  return (
    <StorePage
      key={memoryId}
      id={memoryId}
      search={search}
      onSearch={(next) =>
        void navigate({
          to: "/memory/$memoryId",
          params: { memoryId },
          search: next,
          // Each letter of a search is no page of its own.
          replace: next.tab === search.tab && next.q !== search.q,
        })
      }
      onLookIn={(mode) => switchMode(mode, { keepPage: true })}
      onLeave={() => void navigate({ to: "/memory", ignoreBlocker: true })}
    />
  );
}
