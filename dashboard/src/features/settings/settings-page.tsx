import type { ReactNode } from "react";
import { useClusterShown } from "../../entities/server/use-cluster-shown.ts";
import { useTitle } from "../../hooks/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Tabs } from "../../ui/data/tabs.tsx";
import { SheetHead } from "../../ui/dialogs/sheet.tsx";
import { LazyBoundary } from "../../ui/feedback/lazy-boundary.tsx";
import { lazyPart } from "../../ui/lazy-part.ts";
import { AuditTab } from "./audit-tab.tsx";
import { ConnectionsTab } from "./connections-tab.tsx";
import { PeopleTab } from "./people-tab.tsx";
import { ProjectTab } from "./project-tab.tsx";
import type { SettingsSearch, SettingsTab } from "./read-settings-search.ts";
import { ServerTab } from "./server-tab.tsx";
import { SettingsSkeleton } from "./settings-skeleton.tsx";

// Tabs that are opened seldom come on their own, because the page would be too heavy with all of them.
const ClusterTab = lazyPart(() => import("./cluster-tab.tsx").then((module) => ({ default: module.ClusterTab })));
const PricesTab = lazyPart(() => import("./prices-tab.tsx").then((module) => ({ default: module.PricesTab })));

interface SettingsPageProps {
  search: SettingsSearch;
  onSearch: (search: SettingsSearch) => void;
  onProjectsChanged: () => Promise<void>;
}

const labels: Record<SettingsTab, string> = {
  project: "Project",
  limits: "Limits & budgets",
  retention: "Retention",
  connections: "Model connections",
  prices: "Prices",
  people: "People",
  audit: "Audit log",
  cluster: "Cluster",
  server: "Server",
};

/** Settings of the current project and of the server. */
export function SettingsPage({ search, onSearch, onProjectsChanged }: SettingsPageProps) {
  const { project } = useWorkspace();
  const { tab = "project" } = search;
  useTitle(tab === "project" ? "Settings" : labels[tab], project.name);
  const tabs = Object.entries(labels).map(([value, label]) => ({ value: value as SettingsTab, label }));
  const isShown = useClusterShown() || tab === "cluster";
  const parts: Record<SettingsTab, () => ReactNode> = {
    project: () => <ProjectTab part="project" onProjectsChanged={onProjectsChanged} />,
    limits: () => <ProjectTab part="limits" onProjectsChanged={onProjectsChanged} />,
    retention: () => <ProjectTab part="retention" onProjectsChanged={onProjectsChanged} />,
    connections: () => <ConnectionsTab search={search} onSearch={onSearch} />,
    prices: () => <PricesTab search={search} onSearch={onSearch} />,
    people: () => <PeopleTab search={search} onSearch={onSearch} />,
    audit: () => <AuditTab search={search} onSearch={onSearch} />,
    cluster: () => <ClusterTab />,
    server: () => <ServerTab />,
  };
  return (
    <>
      <SheetHead>
        <h1 className="text-lg">Settings</h1>
        <span className="cut text-muted">{project.name}</span>
      </SheetHead>
      <Tabs
        label="Settings"
        value={tab}
        tabs={tabs.filter(({ value }) => value !== "cluster" || isShown)}
        onChange={(next) => onSearch({ tab: next })}
      >
        <LazyBoundary key={tab} fallback={<SettingsSkeleton />}>
          {parts[tab]()}
        </LazyBoundary>
      </Tabs>
    </>
  );
}
