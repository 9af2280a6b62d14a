import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { safeReturn } from "../features/account/fns/safe-return.ts";
import { sessionQuery } from "../features/account/session.ts";
import { readAgentSearch, readAgentsSearch } from "../features/agents/fns/read-agents-search.ts";
import { readApprovalsSearch } from "../features/approvals/fns/read-approvals-search.ts";
import { readDiffSearch } from "../features/diff/fns/read-diff-search.ts";
import { readFilesSearch } from "../features/files/fns/read-files-search.ts";
import { readStartSearch } from "../features/first-run/fns/read-start-search.ts";
import { readKeysSearch } from "../features/keys/fns/read-keys-search.ts";
import { readStoreSearch, readStoresSearch } from "../features/memory/fns/read-memory-search.ts";
import { readOverviewSearch } from "../features/overview/fns/read-overview-search.ts";
import { readPlaygroundSearch } from "../features/playground/fns/read-playground-search.ts";
import { readReferenceSearch } from "../features/reference/fns/read-reference-search.ts";
import { readRunsSearch } from "../features/runs/fns/read-runs-search.ts";
import { readScheduleSearch, readSchedulesSearch } from "../features/schedules/fns/read-schedule-search.ts";
import { readSettingsSearch } from "../features/settings/fns/read-settings-search.ts";
import { readThreadsSearch } from "../features/threads/fns/read-threads-search.ts";
import { readNewToolSearch, readToolSearch, readToolsSearch } from "../features/tools/fns/read-tools-search.ts";
import { readTraceSearch } from "../features/trace/fns/read-trace-search.ts";
import { readWebhookSearch, readWebhooksSearch } from "../features/webhooks/fns/read-webhook-search.ts";
import { NotFound, PageError } from "./page-states.tsx";
import { queryClient } from "./query-client.ts";
import { Shell } from "./shell.tsx";

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: PageError });

const index = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/overview" });
  },
});

const setup = createRoute({
  getParentRoute: () => root,
  path: "/setup",
  component: lazyRouteComponent(() => import("./routes/setup.tsx"), "SetupRoute"),
});

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  component: lazyRouteComponent(() => import("./routes/login.tsx"), "LoginRoute"),
  validateSearch: (search): { to?: string } => (typeof search.to === "string" ? { to: safeReturn(search.to) } : {}),
});

const invite = createRoute({
  getParentRoute: () => root,
  path: "/invite",
  component: lazyRouteComponent(() => import("./routes/invite.tsx"), "InviteRoute"),
});

/** All that needs a session: asks for it once, and sends those without one where they get one. */
const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  component: Shell,
  beforeLoad: async ({ location }) => {
    const state = await queryClient.ensureQueryData(sessionQuery);
    if (state.signedIn) return;
    if (state.setupRequired) throw redirect({ to: "/setup" });
    throw redirect({ to: "/login", search: { to: location.href.replace(/^\/dashboard/, "") } });
  },
});

const overview = createRoute({
  getParentRoute: () => shell,
  path: "/overview",
  component: lazyRouteComponent(() => import("./routes/overview.tsx"), "OverviewRoute"),
  validateSearch: readOverviewSearch,
});

const start = createRoute({
  getParentRoute: () => shell,
  path: "/start",
  component: lazyRouteComponent(() => import("./routes/start.tsx"), "StartRoute"),
  validateSearch: readStartSearch,
});

const playground = createRoute({
  getParentRoute: () => shell,
  path: "/playground",
  component: lazyRouteComponent(() => import("./routes/playground.tsx"), "PlaygroundRoute"),
  validateSearch: readPlaygroundSearch,
});

const runs = createRoute({
  getParentRoute: () => shell,
  path: "/runs",
  component: lazyRouteComponent(() => import("./routes/runs.tsx"), "RunsRoute"),
  validateSearch: readRunsSearch,
});

const run = createRoute({
  getParentRoute: () => shell,
  path: "/runs/$runId",
  component: lazyRouteComponent(() => import("./routes/run.tsx"), "RunRoute"),
  validateSearch: readTraceSearch,
});

const approvals = createRoute({
  getParentRoute: () => shell,
  path: "/approvals",
  component: lazyRouteComponent(() => import("./routes/approvals.tsx"), "ApprovalsRoute"),
  validateSearch: readApprovalsSearch,
});

const diff = createRoute({
  getParentRoute: () => shell,
  path: "/runs/$runId/diff/$otherId",
  component: lazyRouteComponent(() => import("./routes/diff.tsx"), "DiffRoute"),
  validateSearch: readDiffSearch,
});

const threads = createRoute({
  getParentRoute: () => shell,
  path: "/threads",
  component: lazyRouteComponent(() => import("./routes/threads.tsx"), "ThreadsRoute"),
  validateSearch: readThreadsSearch,
});

const thread = createRoute({
  getParentRoute: () => shell,
  path: "/threads/$threadId",
  component: lazyRouteComponent(() => import("./routes/thread.tsx"), "ThreadRoute"),
});

const keys = createRoute({
  getParentRoute: () => shell,
  path: "/keys",
  component: lazyRouteComponent(() => import("./routes/keys.tsx"), "KeysRoute"),
  validateSearch: readKeysSearch,
});

const agents = createRoute({
  getParentRoute: () => shell,
  path: "/agents",
  component: lazyRouteComponent(() => import("./routes/agents.tsx"), "AgentsRoute"),
  validateSearch: readAgentsSearch,
});

const newAgent = createRoute({
  getParentRoute: () => shell,
  path: "/agents/new",
  component: lazyRouteComponent(() => import("./routes/new-agent.tsx"), "NewAgentRoute"),
});

const agent = createRoute({
  getParentRoute: () => shell,
  path: "/agents/$agentId",
  component: lazyRouteComponent(() => import("./routes/agent.tsx"), "AgentRoute"),
  validateSearch: readAgentSearch,
});

const webhooks = createRoute({
  getParentRoute: () => shell,
  path: "/webhooks",
  component: lazyRouteComponent(() => import("./routes/webhooks.tsx"), "WebhooksRoute"),
  validateSearch: readWebhooksSearch,
});

const webhook = createRoute({
  getParentRoute: () => shell,
  path: "/webhooks/$webhookId",
  component: lazyRouteComponent(() => import("./routes/webhook.tsx"), "WebhookRoute"),
  validateSearch: readWebhookSearch,
});

const files = createRoute({
  getParentRoute: () => shell,
  path: "/files",
  component: lazyRouteComponent(() => import("./routes/files.tsx"), "FilesRoute"),
  validateSearch: readFilesSearch,
});

const schedules = createRoute({
  getParentRoute: () => shell,
  path: "/schedules",
  component: lazyRouteComponent(() => import("./routes/schedules.tsx"), "SchedulesRoute"),
  validateSearch: readSchedulesSearch,
});

const schedule = createRoute({
  getParentRoute: () => shell,
  path: "/schedules/$scheduleId",
  component: lazyRouteComponent(() => import("./routes/schedule.tsx"), "ScheduleRoute"),
  validateSearch: readScheduleSearch,
});

const memory = createRoute({
  getParentRoute: () => shell,
  path: "/memory",
  component: lazyRouteComponent(() => import("./routes/memory.tsx"), "MemoryRoute"),
  validateSearch: readStoresSearch,
});

const memoryStore = createRoute({
  getParentRoute: () => shell,
  path: "/memory/$memoryId",
  component: lazyRouteComponent(() => import("./routes/memory-store.tsx"), "MemoryStoreRoute"),
  validateSearch: readStoreSearch,
});

const tools = createRoute({
  getParentRoute: () => shell,
  path: "/tools",
  component: lazyRouteComponent(() => import("./routes/tools.tsx"), "ToolsRoute"),
  validateSearch: readToolsSearch,
});

const newTool = createRoute({
  getParentRoute: () => shell,
  path: "/tools/new",
  component: lazyRouteComponent(() => import("./routes/new-tool.tsx"), "NewToolRoute"),
  validateSearch: readNewToolSearch,
});

const tool = createRoute({
  getParentRoute: () => shell,
  path: "/tools/$toolId",
  component: lazyRouteComponent(() => import("./routes/tool.tsx"), "ToolRoute"),
  validateSearch: readToolSearch,
});

const settings = createRoute({
  getParentRoute: () => shell,
  path: "/settings",
  component: lazyRouteComponent(() => import("./routes/settings.tsx"), "SettingsRoute"),
  validateSearch: readSettingsSearch,
});

const account = createRoute({
  getParentRoute: () => shell,
  path: "/account",
  component: lazyRouteComponent(() => import("./routes/account.tsx"), "AccountRoute"),
});

const reference = createRoute({
  getParentRoute: () => shell,
  path: "/reference",
  component: lazyRouteComponent(() => import("./routes/reference.tsx"), "ReferenceRoute"),
  validateSearch: readReferenceSearch,
});

/** The dashboard's pages, and what of each lies in its address. */
export const router = createRouter({
  routeTree: root.addChildren([
    index,
    setup,
    login,
    invite,
    shell.addChildren([
      overview,
      start,
      approvals,
      threads,
      thread,
      playground,
      runs,
      run,
      diff,
      agents,
      newAgent,
      agent,
      tools,
      newTool,
      tool,
      files,
      memory,
      memoryStore,
      keys,
      webhooks,
      webhook,
      schedules,
      schedule,
      settings,
      account,
      reference,
    ]),
  ]),
  basepath: "/dashboard",
  defaultPreload: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
