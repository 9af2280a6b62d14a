import { Unplug } from "lucide-react";
import { type ComponentType, useEffect, useState } from "react";
import { reportLost, responds } from "../lib/connection.ts";
import { loadPart } from "../lib/load-part.ts";
import { useTitle } from "../lib/use-title.ts";
import { EmptyState } from "../ui/empty-state.tsx";

type Load<Props> = () => Promise<ComponentType<Props>>;

/**
 * Loads a page. While the server does not respond, returns one that stands in the frame in its place and becomes it later.
 * Rejects if the server responds without it: the router then loads everything anew, since the server was upgraded.
 */
export async function pageOrLate<Props extends object>(load: Load<Props>): Promise<ComponentType<Props>> {
  try {
    return await load();
  } catch {
    if (await responds()) return await load();
    reportLost();
    return latePage(load);
  }
}

interface Late<Props> {
  /** Null until it is loaded. */
  Page: ComponentType<Props> | null;
  loading: Promise<void>;
}

function latePage<Props extends object>(load: Load<Props>): ComponentType<Props> {
  const late: Late<Props> = { Page: null, loading: Promise.resolve() };
  late.loading = loadPart(load).then(
    (Page) => {
      late.Page = Page;
    },
    // The server is there, so that this ends on a page of it.
    () => window.location.reload(),
  );
  return (props) => shown(late, props);
}

const shown = <Props extends object>(late: Late<Props>, props: Props) => <LatePage late={late} props={props} />;

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
