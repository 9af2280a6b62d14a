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
import { type RunStatus, runStatuses } from "../lib/types.ts";
import { NotFound, PageError } from "./page-states.tsx";
import { queryClient } from "./query-client.ts";
import { Shell } from "./shell.tsx";

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: PageError });

const index = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/runs" });
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

const runs = createRoute({
  getParentRoute: () => shell,
  path: "/runs",
  component: lazyRouteComponent(() => import("./routes/runs.tsx"), "RunsRoute"),
  validateSearch: (search): { status?: RunStatus; after?: string; before?: string } => {
    const status = runStatuses.find((known) => known === search.status);
    const after = runId(search.after);
    const before = after ? undefined : runId(search.before);
    return { ...(status && { status }), ...(after && { after }), ...(before && { before }) };
  },
});

const run = createRoute({
  getParentRoute: () => shell,
  path: "/runs/$runId",
  component: lazyRouteComponent(() => import("./routes/run.tsx"), "RunRoute"),
  validateSearch: (search): { view?: "events" } => (search.view === "events" ? { view: "events" } : {}),
});

const settings = createRoute({
  getParentRoute: () => shell,
  path: "/settings",
  component: lazyRouteComponent(() => import("./routes/settings.tsx"), "SettingsRoute"),
});

/** The dashboard's pages, and what of each lies in its address. */
export const router = createRouter({
  routeTree: root.addChildren([index, setup, login, shell.addChildren([runs, run, settings])]),
  basepath: "/dashboard",
  defaultPreload: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

function runId(value: unknown): string | undefined {
  return typeof value === "string" && /^run_\w+$/.test(value) ? value : undefined;
}
