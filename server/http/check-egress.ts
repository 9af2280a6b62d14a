import { AppError } from "../domain/errors.ts";
import { type Egress, EgressError } from "../lib/egress.ts";
import { invalid } from "./errors.ts";

/** Throws early for a URL that no request could reach. Every request is checked again when it is made. */
export const checkEgress = (egress: Egress, url: string, httpsOnly: boolean, param: string): Promise<void> =>
  refuseForbidden(() => egress.check(url, { httpsOnly }), param);

/** Throws the refusal for an address in this parameter that the check does not allow. */
export async function refuseForbidden(check: () => Promise<unknown>, param: string): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    // A name that does not resolve now may resolve later; each request is checked against the addresses it resolves to.
    if (error.code === "dns_failed" || error.code === "dns_timeout") return;
    if (error.code === "url_invalid" || error.code === "credentials_in_url") throw invalid(param, error.message);
    throw new AppError("url_not_allowed", error.message, { param });
  }
}
