import { useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import {
  BookOpen,
  Bot,
  Box,
  CircleUser,
  Compass,
  GitCompare,
  History,
  Keyboard,
  KeyRound,
  LogOut,
  Monitor,
  Moon,
  Plus,
  Settings,
  Sun,
  Tag,
  ToggleLeft,
} from "lucide-react";
import { newestAgentsQuery } from "../entities/agent/agent-api.ts";
import { useAgentName } from "../entities/agent/use-agent-name.ts";
import { useClusterShown } from "../entities/server/use-cluster-shown.ts";
import { usePermission } from "../entities/session/use-may.ts";
import type { AgentTab } from "../features/agents/agent-search.ts";
import type { Command, CommandGroup } from "../features/command-menu/find-commands.ts";
import { readRecent } from "../features/command-menu/recent.ts";
import { awaitKey, hasKey, labelOfKey, runKeyHandler } from "../hooks/use-keys.ts";
import { writePreference } from "../lib/local-storage.ts";
import { type Project, useWorkspace } from "../lib/workspace.ts";
import { formatWorkspace } from "../lib/workspace-address.ts";
import { toastFailure } from "../ui/feedback/toast.ts";
import { groups as places, referenceUrl } from "./pages.ts";
import { showShellDialog } from "./use-shell-dialog.ts";
import { useSignOut } from "./use-sign-out.ts";
import { useChooseProject, useSwitchMode } from "./use-switch-mode.ts";

const keysOf: Record<string, string> = {
  "/overview": "g o",
  "/playground": "g p",
  "/runs": "g r",
  "/approvals": "g a",
  "/keys": "g k",
};

/** Objects that the key `c` creates, by page. */
const creations: Record<string, string> = {
  "/threads": "Create thread",
  "/keys": "Create key",
  "/agents": "Create agent",
  "/tools": "Create tool",
  "/snippets": "Create snippet",
  "/skills": "Upload skill",
  "/memory": "Create memory store",
  "/files": "Upload files",
  "/suites": "Create suite",
  "/oauth_clients": "Create OAuth client",
  "/webhooks": "Create webhook",
  "/schedules": "Create schedule",
  "/triggers": "Create trigger",
};

/** Labels of the page shortcuts. Keys that decide an approval are left out: they need it in view. */
const keyActs: [key: string, label: string][] = [
  ["/", "Search this page"],
  ["f", "Fork from the selected step"],
  ["z", "Pause run"],
  ["m", "Send a message to the run"],
];

/**
 * All entries of the command menu, this page's actions first. Without a query, limited so that all three groups are
 * visible.
 */
export function useCommands(projects: readonly Project[]): { groups: CommandGroup[]; onGo: (path: string) => void } {
  const { history } = useRouter();
  const at = formatWorkspace(useWorkspace());
  const onGo = (path: string) => history.push(`/dashboard/${at}${path}`);
  return {
    onGo,
    groups: [
      { value: "Go to", items: [...usePlaceCommands(onGo), ...useTabCommands(onGo), ...useAgentCommands(onGo)] },
      { value: "Actions", items: [...pageActs(), ...useActCommands(projects, onGo)] },
      { value: "Recent", items: useRecentCommands(onGo) },
    ],
  };
}

/** Actions of the open page. */
function pageActs(): Command[] {
  return keyActs
    .filter(([key]) => hasKey(key))
    .map(([key, label]) => ({
      id: label,
      label: labelOfKey(key) ?? label,
      icon: Keyboard,
      keys: key,
      run: () => runKeyHandler(key),
    }));
}

function usePlaceCommands(onGo: (path: string) => void): Command[] {
  const hasCluster = useClusterShown();
  const pages = Object.values(places)
    .flat()
    .map(
      ({ to, label, icon }): Command => ({
        id: to,
        label,
        icon,
        keys: keysOf[to],
        isHidden: !keysOf[to],
        run: () => onGo(to),
      }),
    );
  const more: [path: string, label: string, icon: typeof Compass, searchTerms?: string][] = [
    ["/start", "First steps", Compass, "guide set up"],
    ["/account", "Account", CircleUser, "password sessions"],
  ];
  const tabs: [tab: string, label: string][] = [
    ["limits", "Limits and budget"],
    ["retention", "Retention"],
    ["connections", "Model connections"],
    ["prices", "Prices"],
    ["people", "People"],
    ["audit", "Audit log"],
    ...(hasCluster ? ([["cluster", "Cluster"]] as [string, string][]) : []),
    ["server", "Server, backup and version"],
  ];
  return [
    ...pages,
    ...more.map(
      ([path, label, icon, searchTerms]): Command => ({
        id: path,
        label,
        icon,
        searchTerms,
        isHidden: true,
        run: () => onGo(path),
      }),
    ),
    {
      id: referenceUrl,
      label: "API reference",
      hint: "Documentation",
      icon: BookOpen,
      isHidden: true,
      run: () => void window.open(referenceUrl, "_blank", "noreferrer"),
    },
    ...tabs.map(
      ([tab, label]): Command => ({
        id: tab,
        label,
        hint: "Settings",
        icon: Settings,
        isHidden: true,
        run: () => onGo(`/settings?tab=${tab}`),
      }),
    ),
  ];
}

function useAgentCommands(onGo: (path: string) => void): Command[] {
  const { data } = useQuery(newestAgentsQuery(useWorkspace()));
  return (data?.data ?? []).map(
    ({ id, name }): Command => ({
      id,
      label: name,
      hint: "Agent",
      icon: Bot,
      isHidden: true,
      run: () => onGo(`/agents/${id}`),
    }),
  );
}

const agentTabs: [tab: AgentTab, label: string, icon: typeof Compass, searchTerms: string][] = [
  ["releases", "Releases", Tag, "labels rollback split production"],
  ["versions", "Versions", GitCompare, "history compare restore"],
];

/** Tabs of the agent whose page is open. */
function useTabCommands(onGo: (path: string) => void): Command[] {
  const [, id] = /^\/agents\/(agt_\w+)$/.exec(useRouter().state.location.pathname) ?? [];
  const name = useAgentName(id ?? "");
  if (id === undefined) return [];
  return agentTabs.map(
    ([tab, label, icon, searchTerms]): Command => ({
      id: `${id} ${tab}`,
      label,
      hint: name,
      icon,
      searchTerms,
      isHidden: true,
      run: () => onGo(`/agents/${id}?tab=${tab}`),
    }),
  );
}

function useRecentCommands(onGo: (path: string) => void): Command[] {
  const here = useRouter().state.location.pathname;
  return readRecent(useWorkspace())
    .filter(({ path }) => path !== here)
    .map(
      ({ path, title }): Command => ({
        id: `recent ${path}`,
        label: title,
        hint: path.split("/").at(-1),
        icon: History,
        run: () => onGo(path),
      }),
    );
}

function useActCommands(projects: readonly Project[], onGo: (path: string) => void): Command[] {
  const { mode, projectId } = useWorkspace();
  const mayChange = usePermission("member");
  const here = useRouter().state.location.pathname;
  const switchMode = useSwitchMode();
  const choose = useChooseProject();
  const signOut = useSignOut();
  const other = mode === "test" ? "live" : "test";
  const create = (path: string) => () => {
    if (path === here) return runKeyHandler("c");
    awaitKey("c");
    onGo(path);
  };
  const pages = new Set<string>(Object.values(places).flatMap((group) => group.map(({ to }) => to as string)));
  const makes = Object.entries(creations)
    .filter(([path]) => mayChange && pages.has(path))
    .sort(([a], [b]) => Number(b === here) - Number(a === here))
    .map(
      ([path, label]): Command => ({
        id: label,
        label,
        icon: path === "/keys" ? KeyRound : Plus,
        keys: path === here ? "c" : undefined,
        isHidden: path !== here,
        run: create(path),
      }),
    );
  const themes = [
    { value: "light", label: "Light theme", icon: Sun },
    { value: "dark", label: "Dark theme", icon: Moon },
    { value: "system", label: "System theme", icon: Monitor },
  ].map(
    ({ value, label, icon }): Command => ({
      id: label,
      label,
      icon,
      isHidden: true,
      run: () => writePreference("theme", value),
    }),
  );
  const others = projects
    .filter(({ id }) => id !== projectId)
    .map(
      ({ id, name }): Command => ({
        id,
        label: `Switch to ${name}`,
        hint: "Project",
        icon: Box,
        isHidden: true,
        run: () => void choose(id),
      }),
    );
  return [
    ...makes,
    { id: "mode", label: `Switch to ${other} data`, icon: ToggleLeft, run: () => void switchMode(other) },
    ...others,
    ...themes,
    { id: "keys", label: "Keyboard shortcuts", icon: Keyboard, keys: "?", run: () => showShellDialog("keys") },
    {
      id: "sign out",
      label: "Sign out",
      icon: LogOut,
      run: () => void signOut().catch((error: Error) => toastFailure("Not signed out", error.message)),
    },
  ];
}
