import type { SuiteCase, SuiteListItem } from "../../../../server/wire/suite.ts";

/** What is known of each suite. */
export type Suite = Omit<SuiteListItem, "last_suite_run">;

/** How a case that diverged went on with its model. */
export type LiveResult = NonNullable<SuiteCase["live"]>;
