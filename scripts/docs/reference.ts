import { createProgram } from "../../server/cli/program.ts";
import { testEvent, webhookTopics } from "../../server/wire/names.ts";
import type { OpenApi } from "../clients/openapi.ts";
import { addressesPage } from "./addresses.ts";
import { alertsPage } from "./alerts.ts";
import { commandPages } from "./commands.ts";
import { errorPages } from "./errors.ts";
import { metricsPage } from "./metrics.ts";
import { eventPages, objectPages } from "./objects.ts";
import { operationPages } from "./operations.ts";
import type { Page } from "./pages.ts";
import { configurationPages, limitsPage } from "./settings.ts";

/** The pages of the reference: made of what the server itself is made of, so that they cannot say anything else. */
export function referencePages(document: OpenApi): Page[] {
  const program = createProgram();
  const webhooks = { ...webhookTopics, [testEvent]: "Somebody asked for a test of the webhook." };
  const pages = [...operationPages(document), ...eventPages(document, webhooks)];
  return [
    ...pages,
    ...objectPages(pages, document),
    ...errorPages(),
    ...commandPages(program),
    ...configurationPages(program),
    addressesPage(),
    metricsPage(),
    alertsPage(),
    limitsPage(countsOf(document)),
  ];
}

/** What each operation counts for, as its description says. */
const countsOf = ({ paths }: OpenApi) =>
  Object.values(paths).flatMap((methods) =>
    Object.entries(methods).map(([method, { operationId, description }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      bucket: /counts for `(\w+)`/.exec(description)![1]!,
    })),
  );
