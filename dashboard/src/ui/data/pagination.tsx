import { ChevronLeft, ChevronRight } from "lucide-react";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import { plural, pluralNoun } from "../../lib/format.ts";
import type { PageSearch } from "../../lib/page-search.ts";
import { SheetFoot } from "../dialogs/sheet.tsx";
import { Button } from "../forms/button.tsx";
import { TimeSwitch } from "../forms/time-switch.tsx";

/** Foot of a list: time format, count, newer and older. */
export function Pagination({
  noun,
  page,
  search,
  oldestFirst = false,
  sorted = false,
  total,
  onPage,
}: {
  noun: string;
  page: List<{ id: string }> | undefined;
  search: PageSearch;
  oldestFirst?: boolean;
  /** True if not sorted by time. */
  sorted?: boolean;
  /** Total on all pages; with `is_more`, a minimum. */
  total?: { count: number; is_more: boolean };
  onPage: (search: PageSearch) => void;
}) {
  const { after, before } = search;
  // has_more refers to the direction in which the page was fetched.
  const hasOlder = before ? true : page?.has_more;
  const hasNewer = after ? true : Boolean(before && page?.has_more);
  const first = page?.data[0]?.id;
  const last = page?.data.at(-1)?.id;
  const [back, on] = sorted ? ["Previous", "Next"] : oldestFirst ? ["Older", "Newer"] : ["Newer", "Older"];
  return (
    <SheetFoot>
      <TimeSwitch />
      <span className="ml-auto tabular-nums">
        {page && page.data.length > 0 && countWords(page.data.length, noun, hasOlder || hasNewer, total)}
      </span>
      {(hasOlder || hasNewer) && (
        <span className="inline-flex">
          <Button
            size="icon-sm"
            aria-label={`${back} ${pluralNoun(noun)}`}
            title={back}
            className="rounded-r-none!"
            disabled={!hasNewer || !first}
            onClick={() => onPage({ before: first })}
          >
            <ChevronLeft aria-hidden className="size-4" strokeWidth={1.5} />
          </Button>
          <Button
            size="icon-sm"
            aria-label={`${on} ${pluralNoun(noun)}`}
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

/** Formats `4 runs`, `50 of 1,234 runs`, `50 of more than 10,000 runs`; without a total, `50 runs on this page`. */
function countWords(
  shown: number,
  noun: string,
  hasOthers: boolean | undefined,
  total: { count: number; is_more: boolean } | undefined,
): string {
  if (!total) return hasOthers ? `${plural(shown, noun)} on this page` : plural(shown, noun);
  if (total.is_more) return `${shown} of more than ${plural(total.count, noun)}`;
  return total.count > shown ? `${shown} of ${plural(total.count, noun)}` : plural(shown, noun);
}
