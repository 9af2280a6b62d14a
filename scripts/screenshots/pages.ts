import type { SeededIds } from "./seed.ts";

/** The lists: each is taken with and without data. */
export const lists = [
  "overview",
  "playground",
  "runs",
  "approvals",
  "threads",
  "agents",
  "tools",
  "snippets",
  "skills",
  "memory",
  "files",
  "suites",
  "keys",
  "webhooks",
  "schedules",
  "triggers",
] as const;

/** Pages for visitors who are not signed in. */
export const signedOutPages = ["/login", "/setup", "/invite#spent", "/forgotten", "/reset#spent"] as const;

/** Returns all pages, by the name of their screenshots. */
export function pagesOf(ids: SeededIds): Record<string, string> {
  const tabs = ["limits", "retention", "connections", "prices", "people", "audit", "server"];
  return {
    ...Object.fromEntries(lists.map((list) => [list, `/${list}`])),
    "overview-tables": "/overview?v=table&period=30d",
    start: "/start",
    "start-agent": "/start?step=agent",
    "start-run": `/start?step=run&agent=${ids.agent}`,
    "runs-failed": "/runs?status=failed",
    run: `/runs/${ids.full}`,
    "playground-label": `/playground?agent=${ids.released}&choice=production`,
    "run-failed": `/runs/${ids.failed}`,
    "run-waiting": `/runs/${ids.waiting}`,
    "run-steered": `/runs/${ids.steered}?tab=messages&view=detail`,
    "run-steering": `/runs/${ids.steering}?step=run&tab=messages&view=detail`,
    "run-paused": `/runs/${ids.paused}?view=detail`,
    "run-pausing": `/runs/${ids.pausing}?step=run&view=detail`,
    "run-handed-over": `/runs/${ids.handedOver}?tab=messages&view=detail`,
    "run-variables": `/runs/${ids.filled}?view=detail`,
    diff: `/runs/${ids.full}/diff/${ids.fork}`,
    agent: `/agents/${ids.agent}`,
    "agent-analytics": `/agents/${ids.agent}?tab=analytics`,
    "agent-versions": `/agents/${ids.released}?tab=versions&version=3`,
    "agent-releases": `/agents/${ids.released}?tab=releases&label=production`,
    "agent-release-rolled-back": `/agents/${ids.released}?tab=releases&label=staging`,
    "agent-releases-many": `/agents/${ids.labelled}?tab=releases`,
    "agent-releases-none": `/agents/${ids.agent}?tab=releases`,
    "agent-new": "/agents/new",
    tool: `/tools/${ids.tool}`,
    "tool-analytics": `/tools/${ids.tool}?tab=analytics`,
    "tool-new": "/tools/new",
    skill: `/skills/${ids.skill}`,
    "skill-large": `/skills/${ids.largeSkill}`,
    thread: `/threads/${ids.thread}`,
    "thread-team": `/threads/${ids.team}`,
    store: `/memory/${ids.store}`,
    document: `/files/${ids.policy}`,
    "document-chunk": `/files/${ids.policy}?chunk=0`,
    "key-page": `/keys/${ids.key}`,
    webhook: `/webhooks/${ids.webhook}`,
    schedule: `/schedules/${ids.schedule}`,
    trigger: `/triggers/${ids.trigger}`,
    "trigger-events": `/triggers/${ids.events}`,
    suite: `/suites/${ids.suite}`,
    "suite-case": `/suites/${ids.suite}?case=${ids.suiteCase}`,
    settings: "/settings",
    ...Object.fromEntries(tabs.map((tab) => [`settings-${tab}`, `/settings?tab=${tab}`])),
    account: "/account",
    "no-such-page": "/nowhere",
    "no-such-run": "/runs/run_00000000000000000000000000",
  };
}
