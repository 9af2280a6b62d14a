import { createProgram } from "../../server/cli/program.ts";
import { testEvent, webhookTopics } from "../../server/domain/api-types/enums.ts";
import type { OpenApi } from "../sdk-codegen/openapi.ts";
import { addressesPage } from "./addresses.ts";
import { alertsPage } from "./alerts.ts";
import { commandPages } from "./commands.ts";
import { errorPages } from "./errors.ts";
import { metricsPage } from "./metrics.ts";
import { eventPages, objectPages } from "./objects.ts";
import { operationPages } from "./operations.ts";
import type { Page } from "./pages.ts";
import { configurationPages, limitsPage } from "./settings.ts";

/** Returns the pages of the reference, generated from the server's own definitions, so that they cannot deviate. */
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

/** Returns the limit of each operation, from its description. */
const countsOf = ({ paths }: OpenApi) =>
  Object.values(paths).flatMap((methods) =>
    Object.entries(methods).map(([method, { operationId, description }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      bucket: /counts for `(\w+)`/.exec(description)![1]!,
    })),
  );
