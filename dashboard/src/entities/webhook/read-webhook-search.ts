import { type PageSearch, readChoice, readPageSearch, readText } from "../../lib/page-search.ts";

export const deliveryStatuses = ["pending", "delivered", "failed"] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** Which deliveries are listed, and the one that is looked at. */
export interface DeliveriesSearch extends PageSearch {
  status?: DeliveryStatus;
  type?: string;
  delivery?: string;
}

/** The page of the list in an address. */
export const readWebhooksSearch = (search: Record<string, unknown>): PageSearch => readPageSearch(search, "whk");

/** The filters and the delivery in an address; what is none is left out. */
export function readWebhookSearch(search: Record<string, unknown>): DeliveriesSearch {
  const status = readChoice(search.status, deliveryStatuses);
  const type = readText(search.type, 64);
  const delivery = readText(search.delivery, 64);
  return {
    ...(status && { status }),
    ...(type && /^[a-z]+\.[a-z_]+$/.test(type) && { type }),
    ...(delivery && /^dlv_\w+$/.test(delivery) && { delivery }),
    ...readPageSearch(search, "dlv"),
  };
}
