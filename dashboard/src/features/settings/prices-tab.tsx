import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Coins } from "lucide-react";
import { useState } from "react";
import type { Price } from "../../../../server/domain/api-types/console.ts";
import { formatPrice } from "../../entities/model/format-price.ts";
import { pricesQuery, priceTableQuery, resetPrice } from "../../entities/server/server-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { formatCount } from "../../lib/format.ts";
import { matchesQuery } from "../../lib/matches-query.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { Cell, Row, RowActs, SecondLine, Table } from "../../ui/data/table.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { toast, toastFailure } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import { SearchField } from "../../ui/forms/search-field.tsx";
import { SetPrice } from "./set-price.tsx";
import { type TabProps, TabTable } from "./tab-table.tsx";
import { UpdatePrices } from "./update-prices.tsx";

const columns = [
  { label: "Model" },
  { label: "Input", right: true },
  { label: "Cached", right: true, folds: true },
  { label: "Output", right: true },
  { label: "Actions", silent: true },
];

/** Model prices and the operator's overrides. */
export function PricesTab({ search, onSearch }: TabProps) {
  const list = useQuery(pricesQuery);
  const may = usePermission("owner");
  const table = useQuery(priceTableQuery);
  const [isUpdating, setUpdating] = useState(false);
  const [edited, setEdited] = useState<Price | "new" | null>(null);
  const { q = "" } = search;
  const shown = list.data?.filter(({ id }) => matchesQuery(id, q)) ?? [];
  return (
    <TabTable
      bar={
        <>
          <SearchField
            label="Search prices"
            placeholder="Model"
            value={q}
            onSearch={(text) => onSearch({ tab: "prices", ...(text && { q: text }) })}
          />
          <Button size="sm" disabled={!may} onClick={() => setEdited("new")}>
            Set price
          </Button>
          <Button
            size="sm"
            disabled={!may || !table.data}
            aria-label="Update prices…"
            onClick={() => setUpdating(true)}
          >
            <span>
              Update<span className="hidden rail:inline"> prices</span>…
            </span>
          </Button>
        </>
      }
      hint={`USD per million tokens${table.data ? `, list prices of ${table.data.as_of}` : ""}. ${may ? "A run keeps the prices that it started with." : "Only owners can change prices."}`}
      pending={list.isPending}
      error={list.error}
      onRetry={() => void list.refetch()}
      failed="The prices cannot be shown"
    >
      {list.data && shown.length === 0 && (
        <EmptyState icon={Coins} title={`No price for “${q}”`}>
          <p className="text-muted">The cost of a model without a price is unknown, not zero.</p>
          {q && <Button onClick={() => onSearch({ tab: "prices" })}>Clear search</Button>}
        </EmptyState>
      )}
      {shown.length > 0 && (
        <Table label="Prices" columns={columns}>
          {shown.map((price) => (
            <PriceRow key={price.id} price={price} may={may} onSet={() => setEdited(price)} />
          ))}
        </Table>
      )}
      {isUpdating && table.data && <UpdatePrices table={table.data} onClose={() => setUpdating(false)} />}
      {edited && <SetPrice price={edited === "new" ? null : edited} onClose={() => setEdited(null)} />}
    </TabTable>
  );
}

function PriceRow({ price, may, onSet }: { price: Price; may: boolean; onSet: () => void }) {
  const { id, available, context_window, input, cached_input, output, as_of, source, reference, long_context } = price;
  const since = source === "operator" ? `Set here${as_of ? ` on ${as_of}` : ""}` : `Listed ${as_of ?? ""}`;
  return (
    <Row stops>
      <Cell main>
        <span className="flex min-w-0 items-center gap-2">
          <code className="cut" title={id}>
            {id}
          </code>
          {source === "operator" && <Badge>custom price</Badge>}
        </span>
        <SecondLine>
          {since}
          {reference && <Reference text={reference} />} · {windowText(context_window)}
          {!available && " · no connection"}
          {long_context && ` · ${formatPrice(long_context.input)} in above ${formatCount(long_context.above)} tokens`}
        </SecondLine>
      </Cell>
      <Cell right className="tabular-nums">
        <span className="text-muted rail:hidden">in </span>
        {formatPrice(input)}
      </Cell>
      <Cell right folds className="tabular-nums max-rail:hidden">
        {formatPrice(cached_input)}
      </Cell>
      <Cell right className="tabular-nums">
        <span className="text-muted rail:hidden">out </span>
        {formatPrice(output)}
      </Cell>
      <Cell right className="max-rail:ml-auto">
        <RowActs>
          {source === "operator" && <ResetPrice model={id} may={may} />}
          <Button size="sm" disabled={!may} aria-label={`Set the price of ${id}`} onClick={onSet}>
            Set
          </Button>
        </RowActs>
      </Cell>
    </Row>
  );
}

const windowText = (tokens: number | null): string => (tokens ? `${formatCount(tokens)} tokens` : "context unknown");

/** The page that lists a price, or the name of the file. */
function Reference({ text }: { text: string }) {
  const host = /^https?:\/\//.test(text) ? URL.parse(text)?.host : undefined;
  if (host === undefined) return <>, {text}</>;
  return (
    <>
      {", "}
      <a href={text} target="_blank" rel="noreferrer" title={text} className="underline">
        {host}
      </a>
    </>
  );
}

/** Resets a price to the built-in one. */
function ResetPrice({ model, may }: { model: string; may: boolean }) {
  const client = useQueryClient();
  const resetting = useMutation({
    mutationFn: () => resetPrice(model),
    onSuccess: async () => {
      await client.invalidateQueries(pricesQuery);
      toast("Custom price removed", model);
    },
    onError: (error) => toastFailure("The price was not removed", error.message),
  });
  return (
    <Button
      kind="ghost"
      size="sm"
      disabled={!may || resetting.isPending}
      aria-label={`Remove custom price of ${model}`}
      onClick={() => resetting.mutate()}
    >
      Remove custom
    </Button>
  );
}
