import { useNavigate, useSearch } from "@tanstack/react-router";
import { PlaygroundPage } from "../../features/playground/playground-page.tsx";
import { useSwitchMode } from "../use-switch-mode.ts";

/** `/dashboard/playground?agent=&compare=&thread=&other=&code=&pane=`. */
export function PlaygroundRoute() {
  const search = useSearch({ from: "/shell/playground" });
  const navigate = useNavigate();
  const switchMode = useSwitchMode();
  return (
    <PlaygroundPage
      search={search}
      onSearch={(change) =>
        void navigate({
          to: "/playground",
          search: (before) => ({ ...before, ...change }),
          // Another agent is another page; the first one, and the rest, is how one looks at it.
          replace: !search.agent || !("agent" in change),
        })
      }
      onLookIn={(mode) => switchMode(mode, { keepPage: true })}
    />
  );
}
