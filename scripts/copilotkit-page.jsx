import { HttpAgent } from "@ag-ui/client";
import { CopilotChat, CopilotKitProvider, useFrontendTool, useInterrupt } from "@copilotkit/react-core/v2";
import { createRoot } from "react-dom/client";
import { z } from "zod";
import { Chat } from "./shown.jsx";

// The chat of the documentation, or one with a tool of the page and approvals.
function WholeChat({ url, agent, token }) {
  const headers = { Authorization: `Bearer ${token}` };
  const agents = { default: new HttpAgent({ url: `${url}/ag-ui/v1/agents/${agent}`, headers }) };
  return (
    <CopilotKitProvider selfManagedAgents={agents}>
      <Parts />
      <CopilotChat agentId="default" />
    </CopilotKitProvider>
  );
}

function Parts() {
  useFrontendTool({
    name: "near",
    description: "What is near.",
    parameters: z.object({ city: z.string() }),
    handler: async ({ city }) => ({ near: city }),
  });
  useInterrupt({
    agentId: "default",
    render: ({ resolve }) => (
      <button type="button" onClick={() => resolve({ approved: true })}>
        Approve
      </button>
    ),
  });
  return null;
}

const { whole, ...config } = window.config;
createRoot(document.getElementById("chat")).render(whole ? <WholeChat {...config} /> : <Chat {...config} />);
