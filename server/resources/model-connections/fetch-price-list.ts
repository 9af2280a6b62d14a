import { AppError } from "../../domain/errors.ts";
import type { PriceList } from "../../domain/price-table.ts";
import { type Egress, EgressError } from "../../lib/egress.ts";
import { priceListMax, readPriceList } from "./read-price-list.ts";

const patience_ms = 30_000;

/**
 * Fetches a table of prices once, within the rules for outgoing requests. Returns it with its address, without the
 * query, which may have a key. Throws `url_not_allowed` or `validation_failed`.
 */
export async function fetchPriceList(
  egress: Egress,
  url: string,
  now: number,
): Promise<{ list: PriceList; origin: string }> {
  const response = await egress
    .fetch(url, { timeoutMs: patience_ms, maxBytes: priceListMax.bytes, maxRedirects: 3 })
    .catch((error) => {
      if (!(error instanceof EgressError)) throw error;
      throw new AppError(isRefusal(error) ? "url_not_allowed" : "validation_failed", error.message, { param: "url" });
    });
  const failed = (message: string) => new AppError("validation_failed", message, { param: "url" });
  if (response.status !== 200) throw failed(`The address answered with status ${response.status}.`);
  if (response.truncated) throw failed(`A price table has at most ${priceListMax.bytes} bytes.`);
  const { origin, pathname } = new URL(url);
  return {
    list: readPriceList(new TextDecoder().decode(response.body), origin + pathname, now),
    origin: origin + pathname,
  };
}

const refusals = new Set<string>(["address_forbidden", "scheme_forbidden", "port_forbidden", "redirect_downgrade"]);
const isRefusal = ({ code }: EgressError): boolean => refusals.has(code);
