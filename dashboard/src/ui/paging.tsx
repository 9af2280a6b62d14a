import { ChevronLeft, ChevronRight } from "lucide-react";
import type { List } from "../../../server/wire/schema.ts";
import { plural, several } from "../lib/format.ts";
import type { PageSearch } from "../lib/page-search.ts";
import { Button } from "./button.tsx";
import { SheetFoot } from "./sheet.tsx";
import { TimeSwitch } from "./time-switch.tsx";

/** The foot of a list: time format, count, newer and older. */
export function Paging({
  noun,
  page,
  search,
  oldestFirst = false,
  onPage,
}: {
  noun: string;
  page: List<{ id: string }> | undefined;
  search: PageSearch;
  oldestFirst?: boolean;
  onPage: (search: PageSearch) => void;
}) {
  const { after, before } = search;
  // has_more speaks of the direction in which the page was read.
  const hasOlder = before ? true : page?.has_more;
  const hasNewer = after ? true : Boolean(before && page?.has_more);
  const first = page?.data[0]?.id;
  const last = page?.data.at(-1)?.id;
  const [back, on] = oldestFirst ? ["Older", "Newer"] : ["Newer", "Older"];
  return (
    <SheetFoot>
      <TimeSwitch />
      <span className="ml-auto tabular-nums">
        {page && page.data.length > 0 && `${plural(page.data.length, noun)} on this page`}
      </span>
      {(hasOlder || hasNewer) && (
        <span className="inline-flex">
          <Button
            size="icon-sm"
            aria-label={`${back} ${several(noun)}`}
            title={back}
            className="rounded-r-none!"
            disabled={!hasNewer || !first}
            onClick={() => onPage({ before: first })}
          >
            <ChevronLeft aria-hidden className="size-4" strokeWidth={1.5} />
          </Button>
          <Button
            size="icon-sm"
            aria-label={`${on} ${several(noun)}`}
            title={on}
            className="-ml-px rounded-l-none!"
            disabled={!hasOlder || !last}
            onClick={() => onPage({ after: last })}
          >
            <ChevronRight aria-hidden className="size-4" strokeWidth={1.5} />
          </Button>
        </span>
      )}
    </SheetFoot>
  );
}
