import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import { CircleAlert, Compass } from "lucide-react";
import { useEffect } from "react";
import { ApiError } from "../lib/api.ts";
import { reportLost, responds, whenBack } from "../lib/connection.ts";
import { useTitle } from "../lib/use-title.ts";
import { Button, buttonClass } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { ErrorNote } from "../ui/error-note.tsx";

/** No page has this address. */
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

/** A page that cannot be shown, where there is no frame yet. */
export function PageError(props: ErrorComponentProps) {
  return (
    <main>
      <PartError {...props} />
    </main>
  );
}

/** Stands in the frame for a page that cannot be shown. One whose request got no response is tried again by itself. */
export function PartError({ error }: ErrorComponentProps) {
  const router = useRouter();
  const isUnreachable = error instanceof ApiError && error.status === 0;
  useEffect(() => {
    if (!isUnreachable) return;
    reportLost();
    void whenBack().then(() => router.invalidate());
  }, [isUnreachable, router]);
  // A reload without a server would end on a page of the browser's own.
  const reload = async () => {
    if (await responds()) window.location.reload();
    else reportLost();
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
