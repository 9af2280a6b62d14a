import {
  createRootRoute,
  createRoute,
  lazyRouteComponent,
  Outlet,
  type RouteComponent,
  redirect,
  retainSearchParams,
  useLocation,
  useMatch,
  useNavigate,
  useRouter,
} from "@tanstack/react-router";
import { type ComponentType, useState } from "react";
import type { Environment as Mode } from "../../../server/domain/scope.ts";
import { readPeriod } from "../entities/analytics/period.ts";
import type { FilesSearch } from "../entities/file/file-api.ts";
import { readOAuthClientSearch, readOAuthClientsSearch } from "../entities/oauth/read-oauth-search.ts";
import { readScheduleSearch, readSchedulesSearch } from "../entities/schedule/read-schedule-search.ts";
import { sessionQuery } from "../entities/session/session.ts";
import { readTriggerSearch, readTriggersSearch } from "../entities/trigger/read-trigger-search.ts";
import { readWebhookSearch, readWebhooksSearch } from "../entities/webhook/read-webhook-search.ts";
import { readAgentSearch, readAgentsSearch } from "../features/agents/read-agents-search.ts";
import { readApprovalsSearch } from "../features/approvals/read-approvals-search.ts";
import { safeReturn } from "../features/auth/safe-return.ts";
import { readDocumentSearch } from "../features/files/read-document-search.ts";
import { readFilesSearch } from "../features/files/read-files-search.ts";
import { readKeysSearch } from "../features/keys/read-keys-search.ts";
import { readStoreSearch, readStoresSearch } from "../features/memory/read-memory-search.ts";
import { readStartSearch } from "../features/onboarding/read-start-search.ts";
import { readOverviewSearch } from "../features/overview/read-overview-search.ts";
import { type PlaygroundSearch, readPlaygroundSearch } from "../features/playground/read-playground-search.ts";
import { readDiffSearch } from "../features/run-comparison/read-diff-search.ts";
import { readRunsSearch } from "../features/runs/read-runs-search.ts";
import { readSettingsSearch, type SettingsSearch } from "../features/settings/read-settings-search.ts";
import { readSkillSearch, readSkillsSearch } from "../features/skills/read-skills-search.ts";
import { readSnippetsSearch } from "../features/snippets/read-snippets-search.ts";
import { readSuiteSearch, readSuitesSearch } from "../features/suites/read-suites-search.ts";
import { readThreadsSearch } from "../features/threads/read-threads-search.ts";
import { readNewToolSearch, readToolSearch, readToolsSearch } from "../features/tools/read-tools-search.ts";
import { readTraceSearch } from "../features/trace/read-trace-search.ts";
import type { NamedSearch } from "../lib/page-search.ts";
import { useWorkspace } from "../lib/workspace.ts";
import { parseWorkspace, type WorkspaceSearch } from "../lib/workspace-address.ts";
import { pageOrLate } from "./late-page.tsx";
import { NoPage, PageError } from "./page-states.tsx";
import { queryClient } from "./query-client.ts";
import { Shell } from "./shell.tsx";
import { useRefreshSession } from "./use-refresh-session.ts";
import { lastWorkspace } from "./use-session-workspace.ts";
import { useSwitchMode } from "./use-switch-mode.ts";

// Routes of the dashboard: paths, search parameters and navigation.

const root = createRootRoute({ component: Outlet, errorComponent: PageError });

/**
 * Parent of all pages that need a session: checks it once and redirects to sign-in. A path without project and mode
 * redirects to the same page of the last ones used.
 */
const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  component: Shell,
  validateSearch: (search): WorkspaceSearch =>
    parseWorkspace(search.workspace) ? { workspace: String(search.workspace) } : {},
  search: { middlewares: [retainSearchParams<WorkspaceSearch>(["workspace"])] },
  beforeLoad: async ({ location, search }) => {
    const state = await queryClient.ensureQueryData(sessionQuery);
    if (!state.signedIn) {
      if (state.setupRequired) throw redirect({ to: "/setup" });
      throw redirect({ to: "/login", search: { to: location.publicHref.replace(/^\/dashboard/, "") } });
    }
    const workspace = search.workspace ?? lastWorkspace(state.session);
    if (workspace === search.workspace) return;
    const { pathname, hash } = location;
    throw redirect({ to: pathname as "/runs", search: { ...location.search, workspace }, hash, replace: true });
  },
});

type Load<Props> = () => Promise<ComponentType<Props>>;
type Read<Search> = (search: Record<string, unknown>) => Search;

/** A page whose code is loaded on navigation, before it is shown. `useProps` returns its props. */
function page<Props extends object>(load: Load<Props>, useProps: () => Props & { key?: string }): RouteComponent {
  return lazyRouteComponent(async () => {
    const Page = (await pageOrLate(load)) as ComponentType<object>;
    return { default: () => withKey(Page, useProps()) };
  });
}

const withKey = (Page: ComponentType<object>, { key, ...props }: { key?: string }) => <Page key={key} {...props} />;

interface AddressProps<Search> {
  search: Search;
  /** `replace` replaces the history entry instead of adding one. */
  onSearch: (next: Search, replace?: boolean) => void;
}
interface ListProps<Search> extends AddressProps<Search> {
  onOpen: (id: string, search?: object) => void;
}
interface ObjectProps<Search> extends AddressProps<Search> {
  id: string;
  onOpen: (id: string) => void;
  /** Looks up the same object in the other mode. */
  onLookIn: (mode: Mode) => void;
  onLeave: () => void;
}

/** True if Back should not undo this change of the address, such as each letter of a search. */
type ShouldReplace<Search> = (next: Search, now: Search) => boolean;
const never = () => false;
const always = () => true;
const onlyQueryChanged = (next: { q?: string }, now: { q?: string }) => next.q !== now.q;

/** Address of the current page. The type is explicit, because the inferred route type would depend on itself. */
function useHere(): { fullPath: string; params: Record<string, string>; search: object } {
  return useMatch({ strict: false });
}

/** Search parameters of this page and a setter. The setter does nothing after navigation to another page. */
function useAddress<Search extends object>(replaces: ShouldReplace<Search> = never): AddressProps<Search> {
  const { fullPath, params, search: all } = useHere();
  const { workspace: _, ...rest } = all as WorkspaceSearch;
  const search = rest as Search;
  const navigate = useNavigate();
  return {
    search,
    onSearch: (next, replace = replaces(next, search)) =>
      void navigate({ to: fullPath as "/runs", params, search: next, replace }),
  };
}

function useLookIn() {
  const switchMode = useSwitchMode();
  return (mode: Mode): void => void switchMode(mode, { keepPage: true });
}

/** Key that resets a page's state when the project or mode changes. */
function useWorkspaceKey(): string {
  const { projectId, mode } = useWorkspace();
  return `${projectId} ${mode}`;
}

function at<const Path extends string, Search extends object, Props extends object>(
  path: Path,
  read: Read<Search>,
  load: Load<Props>,
  useProps: () => Props & { key?: string },
) {
  return createRoute({ getParentRoute: () => shell, path, validateSearch: read, component: page(load, useProps) });
}

/** Route of a resource's list; the routes of its objects are children. */
function list<const Path extends string, Search extends object>(
  path: Path,
  read: Read<Search>,
  load: Load<ListProps<Search>>,
) {
  return at(path, read, load, () => {
    const navigate = useNavigate();
    return {
      ...useAddress<Search>(onlyQueryChanged),
      onOpen: (id: string, search?: object) => void navigate({ to: `${path}/${id}` as "/runs", search }),
    };
  });
}

/** Route of one object. */
function object<const Path extends `${string}/$${string}`, Search extends object>(
  path: Path,
  read: Read<Search>,
  load: Load<ObjectProps<Search>>,
  replaces?: ShouldReplace<Search>,
) {
  const [above = "", name = ""] = path.split("/$");
  return at(path, read, load, () => {
    const navigate = useNavigate();
    const id = useHere().params[name] ?? "";
    return {
      ...useAddress(replaces),
      key: id,
      id,
      onOpen: (other: string) => void navigate({ to: `${above}/${other}` as "/runs" }),
      onLookIn: useLookIn(),
      onLeave: () => void navigate({ to: above as "/runs", ignoreBlocker: true }),
    };
  });
}

/** A page outside the shell, without a session. `leads` is where a signed-in person is redirected. */
function publicPage<const Path extends string, Search extends object>(
  path: Path,
  read: Read<Search>,
  load: Load<{ token: string; onSignedIn: () => void }>,
  leads: (search: Search) => string,
) {
  return createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: read,
    component: page(load, () => useEntry((search) => leads(search as Search))),
  });
}

function useEntry(leads: (search: object) => string): { key: string; token: string; onSignedIn: () => void } {
  const { history } = useRouter();
  const { search } = useHere();
  // The code stands after the #, so that it reaches no server log. Pasting another link into the open page replaces it.
  const { hash } = useLocation();
  const [token, setToken] = useState(hash);
  if (hash !== "" && hash !== token) setToken(hash);
  const onSignedIn = () => {
    queryClient.clear(); // Never show data that another person fetched.
    history.replace(`/dashboard${leads(search)}`);
  };
  return { key: token, token, onSignedIn };
}

const noSearch = () => ({});

const index = createRoute({
  getParentRoute: () => shell,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/overview" });
  },
});
const runs = createRoute({
  getParentRoute: () => shell,
  path: "/runs",
  validateSearch: readRunsSearch,
  component: page(() => import("./runs-route.tsx").then((it) => it.RunsRoute), noSearch),
});
const run = createRoute({
  getParentRoute: () => shell,
  path: "/runs/$runId",
  validateSearch: readTraceSearch,
  component: page(() => import("./run-route.tsx").then((it) => it.RunRoute), noSearch),
});
/** Any unknown path, shown inside the shell. */
const notFoundRoute = createRoute({ getParentRoute: () => shell, path: "$", component: NoPage });

// The results of `createRoute` are separate constants, because inside an array their types would be lost.
export const routeTree = root.addChildren([
  publicPage(
    "/setup",
    noSearch,
    () => import("../features/auth/setup-page.tsx").then((it) => it.SetupPage),
    () => "/start",
  ),
  publicPage(
    "/login",
    (search): { to?: string; refused?: string } => ({
      ...(typeof search.to === "string" && { to: safeReturn(search.to) }),
      ...(typeof search.refused === "string" && { refused: search.refused }),
    }),
    () => import("../features/auth/login-page.tsx").then((it) => it.LoginPage),
    ({ to }) => safeReturn(to),
  ),
  publicPage(
    "/forgotten",
    noSearch,
    () => import("../features/auth/forgotten-page.tsx").then((it) => it.ForgottenPage),
    () => "/overview",
  ),
  publicPage(
    "/reset",
    noSearch,
    () => import("../features/auth/reset-page.tsx").then((it) => it.ResetPage),
    () => "/overview",
  ),
  publicPage(
    "/invite",
    noSearch,
    () => import("../features/auth/invite-page.tsx").then((it) => it.InvitePage),
    () => "/overview",
  ),
  shell.addChildren([
    index,
    at(
      "/overview",
      readOverviewSearch,
      () => import("../features/overview/overview-page.tsx").then((it) => it.OverviewPage),
      () => useAddress(always),
    ),
    at(
      "/start",
      readStartSearch,
      () => import("../features/onboarding/start-page.tsx").then((it) => it.StartPage),
      () => ({ ...useAddress(), onLookIn: useLookIn() }),
    ),
    list("/approvals", readApprovalsSearch, () =>
      import("../features/approvals/approvals-page.tsx").then((it) => it.ApprovalsPage),
    ),
    list("/threads", readThreadsSearch, () =>
      import("../features/threads/threads-page.tsx").then((it) => it.ThreadsPage),
    ),
    object("/threads/$threadId", noSearch, () =>
      import("../features/threads/thread-page.tsx").then((it) => it.ThreadPage),
    ),
    at(
      "/playground",
      readPlaygroundSearch,
      () => import("../features/playground/playground-page.tsx").then((it) => it.PlaygroundPage),
      () => {
        const navigate = useNavigate();
        const { search } = useAddress<PlaygroundSearch>();
        return {
          search,
          onSearch: (change: Partial<PlaygroundSearch>): void =>
            void navigate({
              to: "/playground",
              search: (before: PlaygroundSearch) => ({ ...before, ...change }),
              // Another agent is a new history entry; the first agent and all other settings replace it.
              replace: !search.agent || !("agent" in change),
            }),
          onLookIn: useLookIn(),
        };
      },
    ),
    runs,
    run,
    at(
      "/runs/$runId/diff/$otherId",
      readDiffSearch,
      () => import("../features/run-comparison/diff-page.tsx").then((it) => it.DiffPage),
      () => {
        const { runId: id = "", otherId = "" } = useHere().params;
        return { ...useAddress(always), key: `${id} ${otherId}`, id, otherId, onLookIn: useLookIn() };
      },
    ),
    list("/agents", readAgentsSearch, () => import("../features/agents/agents-page.tsx").then((it) => it.AgentsPage)),
    at(
      "/agents/new",
      noSearch,
      () => import("../features/agents/new-agent-page.tsx").then((it) => it.NewAgentPage),
      () => {
        const navigate = useNavigate();
        return {
          key: useWorkspaceKey(),
          onCreated: (agentId: string) => void navigate({ to: "/agents/$agentId", params: { agentId } }),
        };
      },
    ),
    object("/agents/$agentId", readAgentSearch, () =>
      import("../features/agents/agent-page.tsx").then((it) => it.AgentPage),
    ),
    list("/tools", readToolsSearch, () => import("../features/tools/tools-page.tsx").then((it) => it.ToolsPage)),
    at(
      "/tools/new",
      readNewToolSearch,
      () => import("../features/tools/new-tool-page.tsx").then((it) => it.NewToolPage),
      () => {
        const navigate = useNavigate();
        return {
          ...useAddress(always),
          key: useWorkspaceKey(),
          onCreated: (toolId: string) => void navigate({ to: "/tools/$toolId", params: { toolId } }),
        };
      },
    ),
    object("/tools/$toolId", readToolSearch, () => import("../features/tools/tool-page.tsx").then((it) => it.ToolPage)),
    at(
      "/files",
      readFilesSearch,
      () => import("../features/files/files-page.tsx").then((it) => it.FilesPage),
      () => ({ ...useAddress<FilesSearch>(onlyQueryChanged), key: useWorkspaceKey() }),
    ),
    object("/files/$fileId", readDocumentSearch, () =>
      import("../features/files/document-page.tsx").then((it) => it.DocumentPage),
    ),
    list("/skills", readSkillsSearch, () => import("../features/skills/skills-page.tsx").then((it) => it.SkillsPage)),
    object("/skills/$skillId", readSkillSearch, () =>
      import("../features/skills/skill-page.tsx").then((it) => it.SkillPage),
    ),
    list("/memory", readStoresSearch, () => import("../features/memory/stores-page.tsx").then((it) => it.StoresPage)),
    object(
      "/memory/$memoryId",
      readStoreSearch,
      () => import("../features/memory/store-page.tsx").then((it) => it.StorePage),
      (next, now) => next.tab === now.tab && next.q !== now.q,
    ),
    at(
      "/snippets",
      readSnippetsSearch,
      () => import("../features/snippets/snippets-page.tsx").then((it) => it.SnippetsPage),
      () => useAddress<NamedSearch>(onlyQueryChanged),
    ),
    list("/suites", readSuitesSearch, () => import("../features/suites/suites-page.tsx").then((it) => it.SuitesPage)),
    object("/suites/$suiteId", readSuiteSearch, () =>
      import("../features/suites/suite-page.tsx").then((it) => it.SuitePage),
    ),
    at(
      "/keys",
      readKeysSearch,
      () => import("../features/keys/keys-page.tsx").then((it) => it.KeysPage),
      () => useAddress(always),
    ),
    object("/keys/$keyId", readPeriod, () => import("../features/keys/key-page.tsx").then((it) => it.KeyPage)),
    list("/oauth_clients", readOAuthClientsSearch, () =>
      import("../features/oauth/clients-page.tsx").then((it) => it.ClientsPage),
    ),
    object("/oauth_clients/$oauthClientId", readOAuthClientSearch, () =>
      import("../features/oauth/client-page.tsx").then((it) => it.ClientPage),
    ),
    list("/webhooks", readWebhooksSearch, () =>
      import("../features/webhooks/webhooks-page.tsx").then((it) => it.WebhooksPage),
    ),
    object("/webhooks/$webhookId", readWebhookSearch, () =>
      import("../features/webhooks/webhook-page.tsx").then((it) => it.WebhookPage),
    ),
    list("/schedules", readSchedulesSearch, () =>
      import("../features/schedules/schedules-page.tsx").then((it) => it.SchedulesPage),
    ),
    object("/schedules/$scheduleId", readScheduleSearch, () =>
      import("../features/schedules/schedule-page.tsx").then((it) => it.SchedulePage),
    ),
    list("/triggers", readTriggersSearch, () =>
      import("../features/triggers/triggers-page.tsx").then((it) => it.TriggersPage),
    ),
    object("/triggers/$triggerId", readTriggerSearch, () =>
      import("../features/triggers/trigger-page.tsx").then((it) => it.TriggerPage),
    ),
    at(
      "/settings",
      readSettingsSearch,
      () => import("../features/settings/settings-page.tsx").then((it) => it.SettingsPage),
      () => ({ ...useAddress<SettingsSearch>(onlyQueryChanged), onProjectsChanged: useRefreshSession() }),
    ),
    at("/account", noSearch, () => import("../features/auth/account-page.tsx").then((it) => it.AccountPage), noSearch),
    notFoundRoute,
  ]),
]);
