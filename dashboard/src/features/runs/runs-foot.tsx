import { ChevronLeft, ChevronRight } from "lucide-react";
import { plural } from "../../lib/format.ts";
import type { List, Run } from "../../lib/types.ts";
import { Button } from "../../ui/button.tsx";
import { SheetFoot } from "../../ui/sheet.tsx";
import { TimeSwitch } from "../../ui/time-switch.tsx";
import type { RunsSearch } from "./runs-api.ts";

/** Count, paging and time format of the list. */
export function RunsFoot({
  page,
  search,
  onSearch,
}: {
  page: List<Run> | undefined;
  search: RunsSearch;
  onSearch: (search: RunsSearch) => void;
}) {
  const { status, after, before } = search;
  // has_more speaks of the direction in which the page was read.
  const hasOlder = before ? true : page?.has_more;
  const hasNewer = after ? true : Boolean(before && page?.has_more);
  const first = page?.data[0]?.id;
  const last = page?.data.at(-1)?.id;
  return (
    <SheetFoot>
      <TimeSwitch />
      <span className="ml-auto tabular-nums">
        {page && page.data.length > 0 && `${plural(page.data.length, "run")} on this page`}
      </span>
      <span className="inline-flex">
        <Button
          size="icon-sm"
          aria-label="Newer runs"
          title="Newer"
          className="rounded-r-none!"
          disabled={!hasNewer || !first}
          onClick={() => onSearch({ status, before: first })}
        >
          <ChevronLeft aria-hidden className="size-4" strokeWidth={1.5} />
        </Button>
        <Button
          size="icon-sm"
          aria-label="Older runs"
          title="Older"
          className="-ml-px rounded-l-none!"
          disabled={!hasOlder || !last}
          onClick={() => onSearch({ status, after: last })}
        >
          <ChevronRight aria-hidden className="size-4" strokeWidth={1.5} />
        </Button>
      </span>
    </SheetFoot>
  );
}
