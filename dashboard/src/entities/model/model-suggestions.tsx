import { formatTokens } from "../../lib/format.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { formatPrice } from "./format-price.ts";
import type { Model } from "./model-api.ts";

/** Suggestions of a model field: each with its window, its price and its state. */
export const modelSuggestions = (models: readonly Model[]) =>
  models.map((model) => ({ value: model.id, name: model.name, aside: <ModelFacts model={model} /> }));

/** Window and price of a model; a model without a connection or out of use says so. */
export function ModelFacts({ model }: { model: Model }) {
  const { available, deprecated, context_window, prices, provider } = model;
  if (!available) return <Badge>no connection</Badge>;
  if (provider === "test") return null;
  return (
    <span className="flex shrink-0 flex-col items-end gap-x-2 font-sans text-2xs whitespace-nowrap text-muted tabular-nums rail:flex-row rail:items-center">
      {deprecated && <Badge title="Its server says that it is out of use.">deprecated</Badge>}
      {context_window !== null && <span title="Context window">{formatTokens(context_window)}</span>}
      {prices && (
        <span title="USD per million tokens: input, output">
          {formatPrice(prices.input)} / {formatPrice(prices.output)}
        </span>
      )}
    </span>
  );
}
