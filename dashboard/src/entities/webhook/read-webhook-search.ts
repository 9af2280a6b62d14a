import { deliveryStatuses } from "../../../../server/wire/names.ts";
import {
  given,
  type NamedSearch,
  type PageSearch,
  readChoice,
  readForm,
  readNamedSearch,
  readPageSearch,
} from "../../lib/page-search.ts";

type DeliveryStatus = (typeof deliveryStatuses)[number];

/** Which deliveries are listed, and the one that is looked at. */
export interface DeliveriesSearch extends PageSearch {
  status?: DeliveryStatus;
  type?: string;
  delivery?: string;
}

/** The page of the list in an address. */
export const readWebhooksSearch = (search: Record<string, unknown>): NamedSearch => readNamedSearch(search, "whk");

/** The filters and the delivery in an address; what is none is left out. */
export function readWebhookSearch(search: Record<string, unknown>): DeliveriesSearch {
  return given({
    status: readChoice(search.status, deliveryStatuses),
    type: readForm(search.type, /^[a-z]+\.[a-z_]+$/),
    delivery: readForm(search.delivery, /^dlv_\w+$/),
    ...readPageSearch(search, "dlv"),
  });
}
