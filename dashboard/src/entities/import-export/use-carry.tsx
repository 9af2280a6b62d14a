import { useNavigate } from "@tanstack/react-router";
import { ArrowRightLeft, Copy, Download } from "lucide-react";
import { lazy, type ReactNode, useState } from "react";
import type { Agent } from "../../../../server/resources/agents/schema.ts";
import type { Tool } from "../../../../server/resources/tools/schema.ts";
import { downloadText } from "../../lib/download.ts";
import { getAll } from "../../lib/get-all.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { LazyBoundary } from "../../ui/feedback/lazy-boundary.tsx";
import { toast, toastFailure } from "../../ui/feedback/toast.ts";
import { agentApi } from "../agent/agent-api.ts";
import { toolApi } from "../tool/tool-api.ts";
import { agentPart, type Bundle, bundleOf, freeName, maskedHeaders, toolPart } from "./bundle.ts";
import { readAgentBundle } from "./transfer-api.ts";

const CarryDialog = lazy(() => import("./carry-dialog.tsx").then((loaded) => ({ default: loaded.CopyDialog })));

/** Actions that copy or export a whole agent or tool. */
export function useTransferActions(source: { agent: Agent } | { tool: Tool }) {
  const at = useWorkspace();
  const navigate = useNavigate();
  const [bundle, setBundle] = useState<Bundle | null>(null);
  const readSource = (): Promise<Bundle> =>
    "agent" in source ? readAgentBundle(at, source.agent) : Promise.resolve(bundleOf(null, [source.tool]));
  const showError = (title: string) => (error: Error) => toastFailure(title, error.message);
  const names = async (list: "/agents" | "/tools") =>
    (await getAll<{ id: string; name: string }>(at, list)).map(({ name }) => name);
  const duplicate = async () => {
    if ("agent" in source) {
      const name = freeName(source.agent.name, await names("/agents"), " ");
      const tools = source.agent.tools.map(({ id }) => id);
      const memory = source.agent.memory && { memory: source.agent.memory };
      const createdAgent = await agentApi.create(at, { ...agentPart(source.agent), ...memory, name, tools });
      void navigate({ to: "/agents/$agentId", params: { agentId: createdAgent.id } });
    } else {
      const name = freeName(source.tool.name, await names("/tools"), "_");
      const { agent_id, files } = source.tool;
      const createdTool = await toolApi.create(at, { ...toolPart(source.tool), agent_id, files, name });
      void navigate({ to: "/tools/$toolId", params: { toolId: createdTool.id } });
    }
    const withheld = "tool" in source ? maskedHeaders(source.tool) : [];
    toast("Copy created", withheld.length > 0 ? `Enter its headers again: ${withheld.join(", ")}` : undefined);
  };
  const save = async () => {
    const bundleToSave = await readSource();
    const name = (bundleToSave.agent ?? bundleToSave.tools[0])?.name ?? "export";
    downloadText(`${JSON.stringify(bundleToSave, null, 2)}\n`, `${name.replace(/[^\w-]+/g, "-")}.runnel.json`);
  };
  const dialog: ReactNode = bundle && (
    <LazyBoundary>
      <CarryDialog bundle={bundle} onClose={() => setBundle(null)} />
    </LazyBoundary>
  );
  const acts = [
    { icon: Copy, word: "Duplicate", onDo: () => void duplicate().catch(showError("The copy was not created")) },
    {
      icon: ArrowRightLeft,
      word: at.mode === "test" ? "Copy to live…" : "Copy to…",
      onDo: () => void readSource().then(setBundle).catch(showError("It cannot be copied")),
    },
    { icon: Download, word: "Export", onDo: () => void save().catch(showError("It was not exported")) },
  ];
  return { acts, dialog };
}
