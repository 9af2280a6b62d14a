import { createRoute, createRouter, redirect } from "@tanstack/react-router";
import { rootAddress } from "./root-address.ts";
import { accountAddress } from "./routes/account-address.ts";
import { agentAddress } from "./routes/agent-address.ts";
import { agentsAddress } from "./routes/agents-address.ts";
import { approvalsAddress } from "./routes/approvals-address.ts";
import { diffAddress } from "./routes/diff-address.ts";
import { filesAddress } from "./routes/files-address.ts";
import { inviteAddress } from "./routes/invite-address.ts";
import { keysAddress } from "./routes/keys-address.ts";
import { loginAddress } from "./routes/login-address.ts";
import { memoryAddress } from "./routes/memory-address.ts";
import { memoryStoreAddress } from "./routes/memory-store-address.ts";
import { newAgentAddress } from "./routes/new-agent-address.ts";
import { newToolAddress } from "./routes/new-tool-address.ts";
import { nowhereAddress } from "./routes/nowhere-address.ts";
import { overviewAddress } from "./routes/overview-address.ts";
import { playgroundAddress } from "./routes/playground-address.ts";
import { referenceAddress } from "./routes/reference-address.ts";
import { runAddress } from "./routes/run-address.ts";
import { runsAddress } from "./routes/runs-address.ts";
import { scheduleAddress } from "./routes/schedule-address.ts";
import { schedulesAddress } from "./routes/schedules-address.ts";
import { settingsAddress } from "./routes/settings-address.ts";
import { setupAddress } from "./routes/setup-address.ts";
import { startAddress } from "./routes/start-address.ts";
import { suiteAddress } from "./routes/suite-address.ts";
import { suitesAddress } from "./routes/suites-address.ts";
import { threadAddress } from "./routes/thread-address.ts";
import { threadsAddress } from "./routes/threads-address.ts";
import { toolAddress } from "./routes/tool-address.ts";
import { toolsAddress } from "./routes/tools-address.ts";
import { webhookAddress } from "./routes/webhook-address.ts";
import { webhooksAddress } from "./routes/webhooks-address.ts";
import { shellAddress } from "./shell-address.ts";

const indexAddress = createRoute({
  getParentRoute: () => rootAddress,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/overview" });
  },
});

/** The dashboard's pages. What each lies at, and what its address holds, stands beside it in `routes/`. */
export const router = createRouter({
  routeTree: rootAddress.addChildren([
    indexAddress,
    setupAddress,
    loginAddress,
    inviteAddress,
    shellAddress.addChildren([
      overviewAddress,
      startAddress,
      approvalsAddress,
      threadsAddress,
      threadAddress,
      playgroundAddress,
      runsAddress,
      runAddress,
      diffAddress,
      agentsAddress,
      newAgentAddress,
      agentAddress,
      toolsAddress,
      newToolAddress,
      toolAddress,
      filesAddress,
      memoryAddress,
      memoryStoreAddress,
      suitesAddress,
      suiteAddress,
      keysAddress,
      webhooksAddress,
      webhookAddress,
      schedulesAddress,
      scheduleAddress,
      settingsAddress,
      accountAddress,
      referenceAddress,
      nowhereAddress,
    ]),
  ]),
  basepath: "/dashboard",
  defaultPreload: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
