import { Unplug } from "lucide-react";
import { type ComponentType, useEffect, useState } from "react";
import { useTitle } from "../hooks/use-title.ts";
import { isServerUp, reportConnectionLost } from "../lib/connection.ts";
import { loadPart } from "../lib/load-part.ts";
import { EmptyState } from "../ui/feedback/empty-state.tsx";

type Load<Props> = () => Promise<ComponentType<Props>>;

/**
 * Loads a page's code. If the server does not respond, returns a placeholder that loads it later. Rejects if the server
 * responds without it: the server was upgraded, so the router reloads everything.
 */
export async function pageOrLate<Props extends object>(load: Load<Props>): Promise<ComponentType<Props>> {
  try {
    return await load();
  } catch {
    if (await isServerUp()) return await load();
    reportConnectionLost();
    return latePage(load);
  }
}

interface Late<Props> {
  /** Null until loaded. */
  Page: ComponentType<Props> | null;
  loading: Promise<void>;
}

function latePage<Props extends object>(load: Load<Props>): ComponentType<Props> {
  const late: Late<Props> = { Page: null, loading: Promise.resolve() };
  late.loading = loadPart(load).then(
    (Page) => {
      late.Page = Page;
    },
    // The server responds, so the reload reaches it.
    () => window.location.reload(),
  );
  return (props) => renderLatePage(late, props);
}

const renderLatePage = <Props extends object>(late: Late<Props>, props: Props) => (
  <LatePage late={late} props={props} />
);

function LatePage<Props extends object>({ late, props }: { late: Late<Props>; props: Props }) {
  const [Page, setPage] = useState(() => late.Page);
  useEffect(() => void late.loading.then(() => setPage(() => late.Page)), [late]);
  return Page ? <Page {...props} /> : <NotLoaded />;
}

function NotLoaded() {
  useTitle("Not loaded yet");
  return (
    <EmptyState page icon={Unplug} title="This page is not loaded yet">
      <p className="max-w-[46ch] text-muted">It appears as soon as the server responds.</p>
    </EmptyState>
  );
}
