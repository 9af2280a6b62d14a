import type { Permission as KeyScope } from "../../../../server/core/scope.ts";
import { keyScopes } from "../../entities/key/key-api.ts";
import { Chip } from "../../ui/chip.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { SheetBar } from "../../ui/sheet.tsx";
import type { KeyFilter, KeysSearch } from "./find-keys.ts";

const words: Record<KeyFilter, string> = {
  usable: "Usable",
  ended: "Revoked and expired",
  rotating: "Rotating",
  exposed: "Exposed",
  expiring: "Expiring within 7 days",
};
const statuses = (Object.keys(words) as KeyFilter[]).map((value) => ({
  value,
  label: words[value],
  word: words[value],
}));
const scopes = keyScopes.map((value) => ({ value, label: value, word: value }));

/** Search and filters; what they hold stands in the address. */
export function KeyFilters({
  search,
  onSearch,
  count,
}: {
  search: KeysSearch;
  onSearch: (search: KeysSearch) => void;
  count: string | undefined;
}) {
  return (
    <SheetBar>
      <SearchField
        label="Search keys"
        placeholder="Name, prefix or last 4"
        value={search.q ?? ""}
        onSearch={(q) => onSearch({ ...search, q: q || undefined })}
      />
      <Chip<KeyFilter>
        name="Status"
        value={search.status}
        choices={statuses}
        onChange={(status) => onSearch({ ...search, status })}
      />
      <Chip<KeyScope>
        name="Scope"
        value={search.scope}
        choices={scopes}
        onChange={(scope) => onSearch({ ...search, scope })}
      />
      <span className="ml-auto text-xs whitespace-nowrap text-muted" aria-live="polite">
        {count}
      </span>
    </SheetBar>
  );
}
