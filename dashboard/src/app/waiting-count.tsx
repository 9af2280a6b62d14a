import { useQuery } from "@tanstack/react-query";
import { useContext } from "react";
import { firstApprovalsQuery } from "../entities/tool-call/approval-api.ts";
import { joinFacts, plural } from "../lib/format.ts";
import { type Workspace, WorkspaceContext } from "../lib/workspace.ts";

const most = 99;

/**
 * Number of calls that wait for a decision; a dot on the rail. Pending client tool outputs are counted separately.
 * Renders nothing without a project.
 */
export function PendingBadge({ wide }: { wide: boolean }) {
  const at = useContext(WorkspaceContext);
  return at && <Count at={at} wide={wide} />;
}

function Count({ at, wide }: { at: Workspace; wide: boolean }) {
  const { data } = useQuery(firstApprovalsQuery(at, most, 10_000));
  const outputs = data?.data.filter(({ needs }) => needs === "output").length ?? 0;
  const count = (data?.data.length ?? 0) - outputs;
  if (count === 0 && outputs === 0) return null;
  const shown = data?.has_more ? `${count}+` : String(count);
  const words = joinFacts(count > 0 && `${shown} waiting`, outputs > 0 && plural(outputs, "client output"));
  if (count === 0) return <span className="sr-only">, {words}</span>;
  return (
    <span
      title={words}
      className={wide ? numberClass : `${dotClass} wide:static wide:size-auto wide:h-4.5 wide:min-w-4.5 wide:px-1`}
    >
      <span aria-hidden className={wide ? undefined : "hidden wide:inline"}>
        {shown}
      </span>
      <span className="sr-only">, {words}</span>
    </span>
  );
}

const look = "grid place-items-center rounded-full bg-mode text-2xs font-strong text-on-mode ml-auto";
const numberClass = `${look} h-4.5 min-w-4.5 px-1`;
const dotClass = `${look} absolute top-1 right-1 size-2`;
