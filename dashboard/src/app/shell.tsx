import { useQuery } from "@tanstack/react-query";
import { Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { Suspense, useEffect, useState } from "react";
import type { Session } from "../../../server/domain/api-types/console.ts";
import { type SessionState, sessionQuery } from "../entities/session/session.ts";
import { useHasUnsaved } from "../hooks/use-unsaved.ts";
import { paint } from "../lib/appearance.ts";
import { CaFileContext } from "../lib/ca-file.ts";
import { usePreference } from "../lib/local-storage.ts";
import { WorkspaceContext } from "../lib/workspace.ts";
import { lazyPart } from "../ui/lazy-part.ts";
import { OfflineBanner } from "./offline-banner.tsx";
import { queryClient } from "./query-client.ts";
import { ShellDialogs } from "./shell-dialogs.tsx";
import { SideBar } from "./side-bar.tsx";
import { SignedOutBanner } from "./signed-out-banner.tsx";
import { UnsavedGuard } from "./unsaved-guard.tsx";
import { useFocusPage } from "./use-focus-page.ts";
import { useRefreshSession } from "./use-refresh-session.ts";
import { useRecordRecent } from "./use-remember.ts";
import { useSessionWorkspace } from "./use-session-workspace.ts";

/**
 * The shell: side bar and content. Redirects to sign-in when the session ends; only unsaved input stays until the
 * person signs in again or discards it.
 */
export function Shell() {
  const { data } = useQuery({ ...sessionQuery, refetchOnWindowFocus: "always" });
  const navigate = useNavigate();
  const { publicHref } = useLocation();
  const session = useLastSession(data);
  const isSignedOut = data?.signedIn === false;
  const leaves = !useHasUnsaved() && isSignedOut;
  useEffect(() => {
    if (leaves) void navigate({ to: "/login", search: { to: publicHref.replace(/^\/dashboard/, "") }, replace: true });
  }, [leaves, publicHref, navigate]);
  return session && !leaves ? (
    <SignedInShell key={session.user.id} session={session} isSignedOut={isSignedOut} />
  ) : null;
}

/** Returns the last known session. Resets when another person signs in, so that they never see cached data. */
function useLastSession(state: SessionState | undefined): Session | null {
  const [last, setLast] = useState<Session | null>(null);
  const session = state?.signedIn ? state.session : last;
  if (session !== last) {
    if (last && session && last.user.id !== session.user.id)
      queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
    setLast(session);
  }
  return session;
}

/** Lazy: hardly ever needed. */
const NoProject = lazyPart(() =>
  import("../features/settings/no-project.tsx").then((module) => ({ default: module.NoProject })),
);

const OtherProject = lazyPart(() => import("./other-project.tsx").then((module) => ({ default: module.WrongProject })));

function SignedInShell({ session, isSignedOut }: { session: Session; isSignedOut: boolean }) {
  const workspace = useSessionWorkspace(session);
  const [theme] = usePreference("theme", ["system", "light", "dark"], "system");
  const refresh = useRefreshSession();
  const mode = workspace?.mode ?? "test";
  useFocusPage();
  useRecordRecent(workspace);
  // biome-ignore lint/correctness/useExhaustiveDependencies: paint reads the theme.
  useEffect(() => {
    paint(mode);
    const system = matchMedia("(prefers-color-scheme: dark)");
    const repaint = () => paint(mode);
    system.addEventListener("change", repaint);
    return () => system.removeEventListener("change", repaint);
  }, [mode, theme]);

  return (
    <CaFileContext value={session.ca_file}>
      <WorkspaceContext value={workspace}>
        <a
          href="#main"
          className="fixed top-2 left-2 z-(--z-tooltip) -translate-y-20 rounded-md bg-inverse px-3 py-2 text-on-inverse focus:translate-y-0"
        >
          Skip to the page
        </a>
        <div className="grid h-dvh grid-cols-[minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)] rail:grid-cols-[var(--rail)_minmax(0,1fr)] rail:grid-rows-1 wide:grid-cols-[var(--sidebar)_minmax(0,1fr)]">
          <SideBar session={session} />
          <main
            id="main"
            tabIndex={-1}
            className="relative flex min-h-0 min-w-0 flex-col overflow-hidden border-t border-mode-line bg-surface before:absolute before:inset-x-0 before:top-0 before:z-(--z-rail) before:h-0.5 before:bg-mode focus-visible:shadow-none rail:my-2 rail:mr-2 rail:rounded-lg rail:border rail:shadow-1"
          >
            <OfflineBanner />
            <SignedOutBanner shown={isSignedOut} />
            {workspace ? (
              <Outlet />
            ) : (
              <Suspense>
                {session.projects.length > 0 ? (
                  <OtherProject projects={session.projects} onRefresh={refresh} />
                ) : (
                  <NoProject onProjectsChanged={refresh} />
                )}
              </Suspense>
            )}
          </main>
        </div>
        <UnsavedGuard />
        {workspace && <ShellDialogs projects={session.projects} />}
      </WorkspaceContext>
    </CaFileContext>
  );
}
