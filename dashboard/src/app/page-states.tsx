import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import { CircleAlert, Compass } from "lucide-react";
import { useEffect } from "react";
import { useTitle } from "../hooks/use-title.ts";
import { ApiError } from "../lib/api.ts";
import { isServerUp, reportConnectionLost, waitForConnection } from "../lib/connection.ts";
import { EmptyState } from "../ui/feedback/empty-state.tsx";
import { ErrorNote } from "../ui/feedback/error-note.tsx";
import { Button, buttonClass } from "../ui/forms/button.tsx";

/** Page for an unknown address. */
export function NoPage() {
  useTitle("No such page");
  return (
    <EmptyState page icon={Compass} title="No such page">
      <p className="text-muted">The address may be cut off, or the page has moved.</p>
      <Link to="/overview" className={buttonClass()}>
        Go to the overview
      </Link>
    </EmptyState>
  );
}

/** Error page outside the shell. */
export function PageError(props: ErrorComponentProps) {
  return (
    <main>
      <PartError {...props} />
    </main>
  );
}

/** Error page inside the shell. Retries by itself if the server was unreachable. */
export function PartError({ error }: ErrorComponentProps) {
  const router = useRouter();
  const isUnreachable = error instanceof ApiError && error.status === 0;
  useEffect(() => {
    if (!isUnreachable) return;
    reportConnectionLost();
    void waitForConnection().then(() => router.invalidate());
  }, [isUnreachable, router]);
  // Without a server, a reload would end on the browser's error page.
  const reload = async () => {
    if (await isServerUp()) window.location.reload();
    else reportConnectionLost();
  };
  return (
    <EmptyState page icon={CircleAlert} title="This page cannot be shown">
      <div className="w-full max-w-135 text-left">
        <ErrorNote title="The request failed" error={error instanceof Error ? error : new Error(String(error))} />
      </div>
      <Button onClick={() => void reload()}>Reload</Button>
    </EmptyState>
  );
}
