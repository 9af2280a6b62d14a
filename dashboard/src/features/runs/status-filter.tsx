import { clsx } from "clsx";
import { Plus, X } from "lucide-react";
import { type RunStatus, runStatuses } from "../../lib/types.ts";
import { Menu } from "../../ui/menu.tsx";
import { StatusPill, statusWords } from "../../ui/status-pill.tsx";

/** The chip that filters by status: dashed while open to any, solid when set. */
export function StatusFilter({
  status,
  onChange,
}: {
  status: RunStatus | undefined;
  onChange: (status: RunStatus | undefined) => void;
}) {
  const choices = runStatuses.map((value) => ({ value, label: <StatusPill status={value} /> }));
  const trigger = (
    <button
      type="button"
      className={clsx(
        "inline-flex h-(--control-sm) items-center gap-1.5 border px-2 text-xs font-medium whitespace-nowrap",
        status
          ? "rounded-l-full border-accent-line bg-accent-soft text-accent"
          : "rounded-full border-dashed border-line-button text-muted hover:bg-hover hover:text-ink",
      )}
    >
      {!status && <Plus aria-hidden className="size-3.5" strokeWidth={1.5} />}
      {status ? "Status:" : "Status"}
      {status && <b>{statusWords[status]}</b>}
    </button>
  );
  return (
    <span className="inline-flex shrink-0">
      <Menu trigger={trigger}>
        {({ MenuChoice }) => (
          <>
            <MenuChoice title="Status" value={status ?? ("" as RunStatus)} choices={choices} onChange={onChange} />
          </>
        )}
      </Menu>
      {status && (
        <button
          type="button"
          aria-label="Clear the status filter"
          onClick={() => onChange(undefined)}
          className="inline-flex h-(--control-sm) items-center rounded-r-full border border-l-0 border-accent-line bg-accent-soft pr-2 pl-1 text-accent"
        >
          <X aria-hidden className="size-3.5" strokeWidth={1.5} />
        </button>
      )}
    </span>
  );
}
