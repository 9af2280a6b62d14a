import { useSearch } from "@tanstack/react-router";
import { FolderLock } from "lucide-react";
import { useEffect, useState } from "react";
import { useTitle } from "../hooks/use-title.ts";
import type { Project } from "../lib/workspace.ts";
import { parseWorkspace } from "../lib/workspace-address.ts";
import { EmptyState } from "../ui/feedback/empty-state.tsx";
import { Button } from "../ui/forms/button.tsx";
import { useChooseProject } from "./use-switch-mode.ts";

/** Shown if the address names a project this person cannot access: the reason, and links to their projects. */
export function WrongProject({
  projects,
  onRefresh,
}: {
  projects: readonly Project[];
  onRefresh: () => Promise<void>;
}) {
  const { workspace } = useSearch({ from: "/shell" });
  const choose = useChooseProject();
  const isKnown = useRefreshedOnce(onRefresh);
  useTitle("No such project");
  if (!isKnown) return null;
  return (
    <div className="relative min-h-0 overflow-y-auto">
      <EmptyState page icon={FolderLock} title="No such project">
        <p className="max-w-[46ch] text-muted">
          You cannot open the project of this address. It was archived or deleted, or it belongs to another server.
        </p>
        <code className="wrap-anywhere text-muted">{parseWorkspace(workspace)?.projectId}</code>
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

/** Refetches the projects once, because one that was just created may be missing. True when done. */
function useRefreshedOnce(ask: () => Promise<void>): boolean {
  const [isKnown, setKnown] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per mount.
  useEffect(() => {
    void ask().finally(() => setKnown(true));
  }, []);
  return isKnown;
}
