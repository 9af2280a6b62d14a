import { deliveryStatuses } from "../../../../server/domain/api-types/enums.ts";
import {
  type NamedSearch,
  omitUndefined,
  type PageSearch,
  readChoice,
  readForm,
  readNamedSearch,
  readPageSearch,
} from "../../lib/page-search.ts";

type DeliveryStatus = (typeof deliveryStatuses)[number];

/** Search parameters of a webhook's page: filters and the open delivery. */
export interface DeliveriesSearch extends PageSearch {
  status?: DeliveryStatus;
  type?: string;
  delivery?: string;
}

/** Parses the search parameters of the list. */
export const readWebhooksSearch = (search: Record<string, unknown>): NamedSearch => readNamedSearch(search, "whk");

/** Parses the filters and the delivery; invalid values are omitted. */
export function readWebhookSearch(search: Record<string, unknown>): DeliveriesSearch {
  return omitUndefined({
    status: readChoice(search.status, deliveryStatuses),
    type: readForm(search.type, /^[a-z]+\.[a-z_]+$/),
    delivery: readForm(search.delivery, /^dlv_\w+$/),
    ...readPageSearch(search, "dlv"),
  });
}
