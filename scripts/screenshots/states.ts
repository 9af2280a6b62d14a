import type { Page } from "playwright";
import { lists } from "./pages.ts";
import type { SeededIds } from "./seed.ts";

/** A page in one of its states: its path, and the actions before the screenshot. */
export interface State {
  path: string;
  act?: (page: Page) => Promise<void>;
}

/** Returns all states beyond the pages themselves, by the name of their screenshots. */
export function statesOf(ids: SeededIds): Record<string, State> {
  return {
    ...dialogs(ids),
    ...frame(),
    ...menus(ids),
    ...builders(ids),
    ...traces(ids),
    ...tries(ids),
    ...failures(ids),
    ...viewed(ids),
  };
}

const key =
  (...keys: string[]) =>
  async (page: Page) => {
    for (const each of keys) await page.keyboard.press(each);
  };
export const click = (role: "button" | "menuitem" | "tab", name: string | RegExp) => (page: Page) =>
  page.getByRole(role, { name }).first().click();
export const inTurn =
  (...acts: ((page: Page) => Promise<void>)[]) =>
  async (page: Page) => {
    for (const act of acts) await act(page);
  };
const onWidth =
  (isWanted: (width: number) => boolean) => (act: (page: Page) => Promise<void>) => async (page: Page) => {
    if (isWanted(page.viewportSize()?.width ?? 0)) await act(page);
  };
export const onPhone = onWidth((width) => width < 641);
const onWide = onWidth((width) => width >= 641);
export const dialog = (page: Page) => page.getByRole("dialog").or(page.getByRole("alertdialog")).first().waitFor();

/** Returns the dialogs that ask for a confirmation or an input. */
function dialogs(ids: SeededIds): Record<string, State> {
  const creates = [
    "keys",
    "oauth_clients",
    "webhooks",
    "schedules",
    "triggers",
    "memory",
    "threads",
    "files",
    "suites",
    "snippets",
  ];
  const createKey = inTurn(key("c"), dialog, (page) =>
    page.getByLabel("Name", { exact: true }).fill("Checkout server"),
  );
  const releases = `/agents/${ids.released}?tab=releases&label=production`;
  const ofLabel = (act: string) => inTurn(click("button", "More for production"), click("menuitem", act), dialog);
  const ofKey = (name: string, act: string) =>
    inTurn(click("button", `More for ${name}`), click("menuitem", act), dialog);
  return {
    ...Object.fromEntries(
      creates.map((list) => [`dialog-${list}-create`, { path: `/${list}`, act: inTurn(key("c"), dialog) }]),
    ),
    "dialog-key-faults": { path: "/keys", act: inTurn(key("c"), dialog, key("Enter")) },
    "dialog-key-restricted": {
      path: "/keys",
      act: inTurn(createKey, (page) => page.getByText("Restrictions (optional)").click()),
    },
    "dialog-key-reveal": {
      path: "/keys",
      act: inTurn(createKey, key("ControlOrMeta+Enter"), (page) => page.locator("[data-secret]").waitFor()),
    },
    "dialog-key-rotate": { path: "/keys", act: inTurn(click("button", "Rotate Web shop"), dialog) },
    "dialog-key-revoke": { path: "/keys", act: ofKey("Web shop", "Revoke key") },
    "dialog-key-end": { path: "/keys", act: inTurn(click("button", "End now"), dialog) },
    "dialog-label-create": { path: releases, act: inTurn(click("button", "Create label"), dialog) },
    "dialog-label-move": { path: releases, act: ofLabel("Move or split label") },
    "dialog-label-rollback": { path: releases, act: ofLabel("Roll back label") },
    "dialog-label-delete": { path: releases, act: ofLabel("Delete label") },
    "dialog-connection": { path: "/settings?tab=connections", act: inTurn(key("c"), dialog) },
    "dialog-invite": { path: "/settings?tab=people", act: inTurn(key("c"), dialog) },
    "dialog-price": { path: "/settings?tab=prices", act: inTurn(click("button", "Set price"), dialog) },
    "dialog-prices": { path: "/settings?tab=prices", act: inTurn(click("button", "Update prices…"), dialog) },
    "dialog-secrets": { path: "/tools", act: inTurn(click("button", "Secrets"), dialog) },
    "dialog-entry": { path: `/memory/${ids.store}`, act: inTurn(key("c"), dialog) },
    "dialog-delete-project": { path: "/settings", act: inTurn(click("button", "Delete project"), dialog) },
    "dialog-webhook-secret": {
      path: "/webhooks",
      act: inTurn(
        key("c"),
        dialog,
        (page) => page.getByRole("dialog").getByLabel("URL").fill("https://hooks.acme.example/runnel"),
        (page) => page.keyboard.press("ControlOrMeta+Enter"),
      ),
    },
  };
}

/** Returns the overlays of every page. */
function frame(): Record<string, State> {
  return {
    palette: { path: "/runs", act: inTurn(key("ControlOrMeta+k"), dialog) },
    "palette-found": {
      path: "/runs",
      act: inTurn(key("ControlOrMeta+k"), dialog, (page) => page.keyboard.type("key")),
    },
    "key-map": { path: "/runs", act: inTurn(key("?"), dialog) },
    "menu-project": { path: "/runs", act: click("button", /^Project/) },
    "menu-account": { path: "/runs", act: onWide(click("button", /mara@acme.example|Account/)) },
    "menu-side": { path: "/runs", act: onPhone(inTurn(click("button", "Menu"), dialog)) },
  };
}

/** Returns menus and pickers opened by a click. */
function menus(ids: SeededIds): Record<string, State> {
  const select = async (page: Page) => {
    for (const box of (await page.getByRole("checkbox", { name: /^Select / }).all()).slice(1, 3)) await box.check();
  };
  return {
    "menu-run": { path: `/runs/${ids.full}`, act: click("button", "More actions") },
    "menu-key": { path: "/keys", act: click("button", "More for Web shop") },
    "chip-status": { path: "/runs", act: click("button", /Status/) },
    "chip-time": { path: "/runs", act: click("button", /Time/) },
    "runs-selected": { path: "/runs", act: select },
    "runs-none-found": { path: "/runs?status=cancelled&user=nobody" },
    "oauth-client-refused": { path: `/oauth_clients/${ids.oauthClient}?oauth=failed&oauth_error=access_denied` },
    "webhook-delivery": { path: `/webhooks/${ids.webhook}`, act: (page) => page.locator("[data-row]").first().click() },
    "agent-runs": { path: `/agents/${ids.desk}?tab=runs` },
    "tool-test": { path: `/tools/${ids.tool}?tab=test` },
    "store-search": { path: `/memory/${ids.policies}?tab=search&q=damaged` },
    "store-settings": { path: `/memory/${ids.policies}?tab=settings` },
    "store-entries": { path: `/memory/${ids.policies}` },
  };
}

/** Returns the forms of fields and the code editors. */
function builders(ids: SeededIds): Record<string, State> {
  const shown = (name: string | RegExp) => (page: Page) =>
    page.getByText(name).first().scrollIntoViewIfNeeded({ timeout: 2000 });
  const agent = `/agents/${ids.built}`;
  const cluster = {
    cell: "main",
    failover: { at: new Date(Date.now() - 7_200_000).toISOString(), detail: "eu-1 went silent." },
    cells: [
      cellOf("main", "eu-2", [
        { name: "eu-1", behind: 0 },
        { name: "eu-3", behind: 4711 },
      ]),
      cellOf("northern-warehouse", "eu-3", []),
      cellOf("archive", null, []),
    ],
  };
  return {
    "agent-model": { path: agent, act: shown("Script") },
    "agent-memory": { path: agent, act: shown("Max passages") },
    "agent-guardrails": { path: agent, act: shown("Add a guardrail") },
    "agent-schema": { path: agent, act: shown("Output schema") },
    "agent-limits": { path: agent, act: shown("Run limits") },
    "agent-chat": { path: `${agent}?tab=chat` },
    "tool-schema": { path: `/tools/${ids.builtTool}`, act: shown("Arguments (JSON Schema)") },
    "tool-conditions": { path: `/tools/${ids.builtTool}`, act: shown("Add condition") },
    "tool-json": {
      path: `/tools/${ids.builtTool}`,
      act: inTurn((page) => page.getByText("JSON", { exact: true }).first().click(), shown("Arguments (JSON Schema)")),
    },
    "tool-code": { path: `/tools/${ids.codeTool}`, act: shown("Source") },
    "tool-code-test": { path: `/tools/${ids.codeTool}?tab=test`, act: click("button", "Call tool") },
    "playground-variables": {
      path: `/playground?agent=${ids.built}`,
      act: inTurn(
        onPhone((page) => page.getByText("Agent", { exact: true }).first().click()),
        shown("Variables"),
      ),
    },
    "playground-sent": {
      path: `/playground?agent=${ids.agent}`,
      act: inTurn(
        async (page) => {
          await page.getByRole("textbox", { name: /message/i }).fill("Where is 4711?");
          await page.keyboard.press("ControlOrMeta+Enter");
        },
        click("button", "What the model was sent"),
        dialog,
      ),
    },
    "settings-cluster": {
      path: "/settings?tab=cluster",
      act: async (page) => {
        await page.route(/console\/api\/cluster$/, (route) => route.fulfill({ json: cluster }));
        await page.reload();
        await page.getByText("northern-warehouse").waitFor();
      },
    },
    "runs-filters": { path: "/runs", act: inTurn(click("button", "More filters"), dialog) },
    "runs-filtered": { path: "/runs?model=test%2Fscript&cost_max=1&q=order" },
    "runs-views": { path: "/runs", act: click("button", "Views") },
    "runs-columns": { path: "/runs", act: onWide(click("button", "Columns")) },
    "runs-import": { path: "/runs", act: inTurn(click("button", "Import"), dialog) },
    "suite-run": { path: `/suites/${ids.suite}`, act: inTurn(click("button", "Run suite"), dialog) },
    "agent-copy": {
      path: agent,
      act: inTurn(click("button", "More actions"), click("menuitem", /Copy to live/), dialog),
    },
    "run-compare": {
      path: `/runs/${ids.full}`,
      act: inTurn(click("button", "More actions"), click("menuitem", /Compare with…/), dialog),
    },
    "run-verify": {
      path: `/runs/${ids.full}`,
      act: inTurn(click("button", "More actions"), click("menuitem", /Verify/)),
    },
    "run-delete": {
      path: `/runs/${ids.full}`,
      act: inTurn(click("button", "More actions"), click("menuitem", /Delete/)),
    },
    facts: { path: `/memory/${ids.facts}?of=ada` },
  };
}

const cellOf = (cell: string, leader: string | null, spares: { name: string; behind: number }[]) => ({
  cell,
  leader,
  address: leader && `https://${leader}.acme.example:8443`,
  lease_ms: leader && 8400,
  epoch: 12,
  head: 481_516,
  log: { rows: 2342, bytes: 48_151_623 },
  pages: { pages: 1_234_567, bytes: 4_815_162_342 },
  spares,
  projects: [],
});

/** Returns a trace, step by step, during its replay and before its fork. */
function traces(ids: SeededIds): Record<string, State> {
  const at = (more: string) => ({ path: `/runs/${ids.full}?${more}` });
  return {
    "trace-model": at("step=2&tab=messages&view=detail"),
    "trace-request": at("step=2&tab=request&view=detail"),
    "trace-graph": at("graph=drawing"),
    "trace-graph-table": at("graph=table"),
    "trace-arguments": at("step=3&tab=arguments&view=detail"),
    "trace-output": at("step=3&tab=output&view=detail"),
    "trace-failed-tool": at("step=4&view=detail"),
    "trace-sources": at("step=1&tab=output&view=detail"),
    "trace-subagent": {
      path: `/runs/${ids.full}?step=5&view=detail`,
      act: onWide((page) => page.getByRole("treeitem", { name: /fraud_check/ }).press("ArrowRight", { timeout: 2000 })),
    },
    "trace-raw": at("step=3&tab=raw&view=detail"),
    "trace-events": at("tab=events&view=detail"),
    "trace-messages": at("tab=messages&view=detail"),
    "trace-played": at("t=900"),
    "trace-unfolded": at("fold=off"),
    "trace-none-found": at("q=zeppelin"),
    "trace-fork": at(`step=${ids.failedStep}&fork=true`),
    "trace-fork-model": at("step=6&fork=true"),
    "trace-approval": { path: `/runs/${ids.approving}?view=detail` },
    "trace-asking": { path: `/runs/${ids.asking}?view=detail` },
    "trace-forked": { path: `/runs/${ids.fork}` },
    "trace-long": { path: `/runs/${ids.long}` },
    "diff-only": { path: `/runs/${ids.full}/diff/${ids.fork}?hide=equal` },
    "diff-others": { path: `/runs/${ids.run}/diff/${ids.failed}` },
  };
}

/** Returns the playground in a conversation. */
function tries(ids: SeededIds): Record<string, State> {
  const say = async (page: Page) => {
    await page
      .getByRole("textbox", { name: /message|write/i })
      .last()
      .fill("My parcel 4711 came broken.");
    await page.keyboard.press("ControlOrMeta+Enter");
  };
  const asked = (page: Page) => page.getByRole("button", { name: "Send output" }).first().waitFor();
  const rejecting = inTurn(say, asked, click("button", /an error/));
  const path = `/playground?agent=${ids.desk}`;
  return {
    "playground-asking": { path, act: inTurn(say, asked) },
    "playground-error": { path, act: rejecting },
    "playground-done": {
      path: `/playground?agent=${ids.agent}`,
      act: inTurn(say, (page) => page.getByText("Completed").first().waitFor()),
    },
    "playground-failed": {
      path: `/playground?agent=${ids.failing}`,
      act: inTurn(say, (page) => page.getByText("model_error").first().waitFor()),
    },
    "playground-two": { path, act: click("button", "Compare two") },
  };
}

/** Returns failed loads, and a server that does not respond. */
function failures(ids: SeededIds): Record<string, State> {
  const fails = (path: string): State => failsPart(path, /\/console\/api\/(?!session)/);
  const failsPart = (path: string, part: RegExp): State => ({
    path,
    act: async (page) => {
      const body = {
        error: { code: "overloaded", message: "The server is overloaded. Try again in a few seconds." },
        request_id: "req_01kahxq4t7m2v8d3n6r9w1y5z0",
      };
      await page.route(part, (route) => route.fulfill({ status: 503, json: body }));
      await page.reload();
      await page.getByRole("button", { name: "Try again" }).first().waitFor();
    },
  });
  const tabs = ["connections", "prices", "people", "audit", "server"];
  return {
    ...Object.fromEntries(lists.map((list) => [`fails-${list}`, fails(`/${list}`)])),
    "fails-run": fails(`/runs/${ids.full}`),
    "fails-agent": fails(`/agents/${ids.desk}`),
    "fails-agent-releases": failsPart(`/agents/${ids.released}?tab=releases&label=production`, /\/labels/),
    "fails-agent-report": failsPart(`/agents/${ids.released}?tab=releases&label=production`, /\/labels\/./),
    "fails-tool": fails(`/tools/${ids.tool}`),
    "fails-thread": fails(`/threads/${ids.thread}`),
    "fails-store": fails(`/memory/${ids.policies}`),
    "fails-webhook": fails(`/webhooks/${ids.webhook}`),
    "fails-oauth-client": fails(`/oauth_clients/${ids.oauthClient}`),
    "fails-schedule": fails(`/schedules/${ids.schedule}`),
    "fails-suite": fails(`/suites/${ids.suite}`),
    "fails-settings": fails("/settings"),
    ...Object.fromEntries(tabs.map((tab) => [`fails-settings-${tab}`, fails(`/settings?tab=${tab}`)])),
    "fails-diff": fails(`/runs/${ids.full}/diff/${ids.fork}`),
    offline: {
      path: "/runs",
      act: async (page) => {
        await page.route(/\/(console\/api|healthz)/, (route) => route.abort());
        await page.getByRole("link", { name: "New run" }).click();
        await page.getByText("The server does not respond").first().waitFor();
      },
    },
  };
}

/** Returns the read-only pages of a viewer. */
function viewed(ids: SeededIds): Record<string, State> {
  const asViewer = async (page: Page) => {
    await page.route(/\/console\/api\/session$/, async (route) => {
      const response = await route.fetch();
      const session = await response.json();
      await route.fulfill({ response, json: { ...session, user: { ...session.user, role: "viewer" } } });
    });
    await page.reload();
    await page.getByText("View only").first().waitFor();
  };
  const paths = { agent: `/agents/${ids.desk}`, run: `/runs/${ids.approving}`, keys: "/keys" };
  return Object.fromEntries(
    Object.entries(paths).map(([name, path]): [string, State] => [`viewer-${name}`, { path, act: asViewer }]),
  );
}
