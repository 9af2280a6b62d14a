import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { useContext } from "react";
import { firstApprovalsQuery } from "../entities/tool-call/approval-api.ts";
import { joinFacts, plural } from "../lib/format.ts";
import { type Workspace, WorkspaceContext } from "../lib/workspace.ts";
import { groups } from "./pages.ts";

/** One group of navigation links. On the rail their names are tooltips. */
export function Nav({
  group,
  wide = false,
  onNavigate,
}: {
  group: keyof typeof groups;
  wide?: boolean;
  onNavigate?: () => void;
}) {
  return (
    <nav aria-label={group} className="flex flex-col gap-px">
      {(group === "Build" || group === "Connect") && (
        <span
          aria-hidden
          className={clsx(
            "px-2 pt-1 pb-0.5 text-2xs text-muted",
            !wide &&
              "max-wide:mx-2 max-wide:mb-1 max-wide:h-px max-wide:bg-mode-line max-wide:overflow-hidden max-wide:p-0 max-wide:text-transparent",
          )}
        >
          {group}
        </span>
      )}
      {groups[group].map(({ to, label, icon: Icon }) => (
        <Link
          key={to}
          to={to}
          title={label}
          onClick={onNavigate}
          className={clsx(
            "relative flex h-7.5 shrink-0 items-center gap-2.5 rounded-md px-2 text-muted hover:bg-mode-soft hover:text-ink pointer-coarse:h-10",
            "aria-[current=page]:bg-surface aria-[current=page]:font-strong aria-[current=page]:text-ink aria-[current=page]:shadow-1 aria-[current=page]:ring-1 aria-[current=page]:ring-mode-line aria-[current=page]:[&_svg]:text-mode-ink",
            "focus-visible:shadow-(--focus)!",
            !wide && "justify-center wide:justify-start",
          )}
        >
          <Icon aria-hidden className="size-4 shrink-0" strokeWidth={1.5} />
          <span className={clsx(!wide && "sr-only wide:not-sr-only")}>{label}</span>
          {(to as string) === "/approvals" && <PendingBadge wide={wide} />}
        </Link>
      ))}
    </nav>
  );
}

const most = 99;

/**
 * Number of calls that wait for a decision; a dot on the rail. Pending client tool outputs are counted separately.
 * Renders nothing without a project.
 */
function PendingBadge({ wide }: { wide: boolean }) {
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
