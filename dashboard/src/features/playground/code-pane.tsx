import { Link } from "@tanstack/react-router";
import { useMay } from "../../entities/session/use-may.ts";
import type { ApiRequest } from "../../lib/request-code.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ShowCode } from "../../ui/show-code.tsx";

/** The requests of this page, as an application would send them. */
export function CodePane({ requests }: { requests: readonly ApiRequest[] }) {
  const { mode } = useWorkspace();
  const mayCreate = useMay("member");
  return (
    <aside aria-label="Code" className="pg-code flex min-h-0 flex-col gap-3 overflow-y-auto bg-subtle p-4">
      <ShowCode name="playground" request={requests} />
      <p className="mt-auto text-xs text-muted">
        This is what the playground sends. <code>$RUNNEL_API_KEY</code> is a {mode} key with the scope run.{" "}
        {mayCreate && (
          <Link to="/keys" className="text-accent underline underline-offset-2">
            Create one
          </Link>
        )}
      </p>
    </aside>
  );
}
