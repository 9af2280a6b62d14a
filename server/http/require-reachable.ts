import { AppError } from "../core/errors.ts";
import { type Egress, EgressError } from "../lib/egress.ts";
import { invalid } from "./errors.ts";

/** Early word on a URL that no request could reach; every request is judged again. */
export async function requireReachable(
  egress: Pick<Egress, "check">,
  url: string,
  httpsOnly: boolean,
  param: string,
): Promise<void> {
  try {
    await egress.check(url, { httpsOnly });
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    // A name that does not resolve today may do so tomorrow, and the request will be judged by what it resolves to.
    if (error.code === "dns_failed" || error.code === "dns_timeout") return;
    if (error.code === "url_invalid" || error.code === "credentials_in_url") throw invalid(param, error.message);
    throw new AppError("url_not_allowed", error.message, { param });
  }
}
