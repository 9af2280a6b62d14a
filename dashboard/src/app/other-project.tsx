import { useSearch } from "@tanstack/react-router";
import { FolderLock } from "lucide-react";
import { useEffect, useState } from "react";
import { useTitle } from "../lib/use-title.ts";
import type { Project } from "../lib/workspace.ts";
import { readPlace } from "../lib/workspace-address.ts";
import { Button } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { useChooseProject } from "./use-switch-mode.ts";

/** What stands where the address names a project that this person does not see: why, and the way to those that they do. */
export function OtherProject({
  projects,
  onRefresh,
}: {
  projects: readonly Project[];
  onRefresh: () => Promise<void>;
}) {
  const { workspace } = useSearch({ from: "/shell" });
  const choose = useChooseProject();
  const isKnown = useAskedOnce(onRefresh);
  useTitle("No such project");
  if (!isKnown) return null;
  return (
    <div className="relative min-h-0 overflow-y-auto">
      <EmptyState page icon={FolderLock} title="No such project">
        <p className="max-w-[46ch] text-muted">
          You cannot open the project of this address. It was archived or deleted, or it belongs to another server.
        </p>
        <code className="wrap-anywhere text-muted">{readPlace(workspace)?.projectId}</code>
        <ul className="flex max-w-full flex-wrap justify-center gap-2">
          {projects.map(({ id, name }) => (
            <li key={id} className="min-w-0">
              <Button onClick={() => void choose(id)}>
                <span className="cut">Go to {name}</span>
              </Button>
            </li>
          ))}
        </ul>
      </EmptyState>
    </div>
  );
}

/** Whether the projects were asked for again: one that was made a moment ago is not known yet. */
function useAskedOnce(ask: () => Promise<void>): boolean {
  const [isKnown, setKnown] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, however often the shell is drawn.
  useEffect(() => {
    void ask().finally(() => setKnown(true));
  }, []);
  return isKnown;
}
