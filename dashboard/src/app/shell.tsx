import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Outlet, type ShouldBlockFn, useBlocker, useLocation, useNavigate, useRouter } from "@tanstack/react-router";
import { LogOut, Unplug } from "lucide-react";
import { type ComponentType, lazy, Suspense, useEffect, useRef, useState } from "react";
import type { Session } from "../../../server/domain/api-types/console.ts";
import { type SessionState, sessionQuery } from "../entities/session/session.ts";
import { rememberRecent } from "../features/command-menu/recent.ts";
import { answerQuestion, mayLeave, useHasUnsaved, useLeaveQuestion } from "../hooks/use-unsaved.ts";
import { paint } from "../lib/appearance.ts";
import { CaFileContext } from "../lib/ca-file.ts";
import { retryConnection, useIsConnectionLost } from "../lib/connection.ts";
import { usePreference } from "../lib/local-storage.ts";
import { type Workspace, WorkspaceContext } from "../lib/workspace.ts";
import { SignInElsewhere } from "../ui/dialogs/sign-in-elsewhere.tsx";
import { Button } from "../ui/forms/button.tsx";
import { lazyPart } from "../ui/lazy-part.ts";
import { leavesForm } from "./leaves-form.ts";
import { queryClient } from "./query-client.ts";
import { ShellDialogs } from "./shell-dialogs.tsx";
import { SideBar } from "./side-bar.tsx";
import { useRefreshSession } from "./use-refresh-session.ts";
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

/** Shown while the server is unreachable. When it is back, all shown data is refetched. */
function OfflineBanner() {
  const lost = useIsConnectionLost();
  const wasLost = useRef(false);
  const client = useQueryClient();
  useEffect(() => {
    if (wasLost.current && !lost) void client.invalidateQueries();
    wasLost.current = lost;
  }, [lost, client]);
  return (
    <div role="alert">
      {lost && (
        <div className="enter flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-warn-line bg-warn-soft px-4 py-2 rail:px-5">
          <Unplug aria-hidden className="size-4 shrink-0 text-warn" strokeWidth={1.5} />
          <span className="min-w-0 flex-1">
            <b>The server does not respond.</b> It may be stopped, or the network is down. What you see may be out of
            date. Retrying every two seconds.
          </span>
          <Button size="sm" onClick={() => void retryConnection()}>
            Retry now
          </Button>
        </div>
      )}
    </div>
  );
}

/** Tells a person with unsaved input that they were signed out. */
function SignedOutBanner({ shown }: { shown: boolean }) {
  return (
    <div role="alert">
      {shown && (
        <div className="enter flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-warn-line bg-warn-soft px-4 py-2 rail:px-5">
          <LogOut aria-hidden className="size-4 shrink-0 text-warn" strokeWidth={1.5} />
          <span className="min-w-0 flex-1">
            <b>You are signed out.</b> What you have written is still here. Sign in, then come back to save it.
          </span>
          <SignInElsewhere />
        </div>
      )}
    </div>
  );
}

const UnsavedChangesDialog = lazy<ComponentType<{ above: "page" | "dialog" }>>(() =>
  import("../ui/dialogs/unsaved-changes-dialog.tsx").then(
    (module) => ({ default: module.UnsavedChangesDialog }),
    () => ({ default: BrowserQuestion }),
  ),
);

/** Asks before links, Back or closing the tab discard unsaved input. */
function UnsavedGuard() {
  const isUnsaved = useHasUnsaved();
  useBlocker({ shouldBlockFn: shouldBlock, disabled: !isUnsaved });
  return <Suspense>{isUnsaved && <UnsavedChangesDialog above="page" />}</Suspense>;
}

/** Falls back to the browser's question if the dialog's code cannot be loaded (server down or upgraded). */
function BrowserQuestion({ above }: { above: "page" | "dialog" }) {
  const isAsked = useLeaveQuestion(above);
  useEffect(() => {
    if (isAsked) answerQuestion(window.confirm("Leave without saving? Your changes would be lost."));
  }, [isAsked]);
  return null;
}

const shouldBlock: ShouldBlockFn = async ({ current, next }) => leavesForm(current, next) && !(await mayLeave());

/** After navigation, moves the focus to the page's heading unless the page has moved it itself. */
function useFocusPage(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe("onRendered", ({ pathChanged, fromLocation }) => {
        if (!pathChanged || !fromLocation) return;
        const main = document.getElementById("main");
        const active = document.activeElement;
        const isElsewhere = active?.closest("[role=dialog],[role=alertdialog],[role=menu]");
        if (!main || main === active || main.contains(active) || isElsewhere) return;
        const heading = main.querySelector("h1") ?? main;
        heading.tabIndex = -1;
        heading.focus({ preventScroll: true });
      }),
    [router],
  );
}

/** Records opened objects, with their tab titles, as recently viewed. */
function useRecordRecent(at: Workspace | null): void {
  const router = useRouter();
  useEffect(() => {
    const title = document.querySelector("title");
    if (!at || !title) return;
    const onTitle = () => {
      const { matches, location } = router.state;
      const isObject = matches.at(-1)?.fullPath.includes("$");
      const name = document.title.replace(/ · runnel$/, "");
      if (isObject && !/^No such|^runnel$/.test(name)) rememberRecent(at, { path: location.pathname, title: name });
    };
    const observer = new MutationObserver(onTitle);
    observer.observe(title, { childList: true, characterData: true, subtree: true });
    return () => observer.disconnect();
  }, [at, router]);
}
