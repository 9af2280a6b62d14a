import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { CircleAlert, Compass } from "lucide-react";
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

/** A page that cannot be shown, most often because the server does not answer. */
export function PageError({ error }: ErrorComponentProps) {
  return (
    <main>
      <EmptyState page icon={CircleAlert} title="This page cannot be shown">
        <div className="w-full max-w-135 text-left">
          <ErrorNote title="The request failed" error={error instanceof Error ? error : new Error(String(error))} />
        </div>
        <Button onClick={() => window.location.reload()}>Reload</Button>
      </EmptyState>
    </main>
  );
}
