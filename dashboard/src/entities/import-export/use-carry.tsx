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
export function useTransferActions(thing: { agent: Agent } | { tool: Tool }) {
  const at = useWorkspace();
  const navigate = useNavigate();
  const [bundle, setBundle] = useState<Bundle | null>(null);
  const read = (): Promise<Bundle> =>
    "agent" in thing ? readAgentBundle(at, thing.agent) : Promise.resolve(bundleOf(null, [thing.tool]));
  const tell = (title: string) => (error: Error) => toastFailure(title, error.message);
  const names = async (list: "/agents" | "/tools") =>
    (await getAll<{ id: string; name: string }>(at, list)).map(({ name }) => name);
  const duplicate = async () => {
    if ("agent" in thing) {
      const name = freeName(thing.agent.name, await names("/agents"), " ");
      const tools = thing.agent.tools.map(({ id }) => id);
      const memory = thing.agent.memory && { memory: thing.agent.memory };
      const made = await agentApi.create(at, { ...agentPart(thing.agent), ...memory, name, tools });
      void navigate({ to: "/agents/$agentId", params: { agentId: made.id } });
    } else {
      const name = freeName(thing.tool.name, await names("/tools"), "_");
      const { agent_id, files } = thing.tool;
      const made = await toolApi.create(at, { ...toolPart(thing.tool), agent_id, files, name });
      void navigate({ to: "/tools/$toolId", params: { toolId: made.id } });
    }
    const withheld = "tool" in thing ? maskedHeaders(thing.tool) : [];
    toast("Copy created", withheld.length > 0 ? `Enter its headers again: ${withheld.join(", ")}` : undefined);
  };
  const save = async () => {
    const whole = await read();
    const name = (whole.agent ?? whole.tools[0])?.name ?? "export";
    downloadText(`${JSON.stringify(whole, null, 2)}\n`, `${name.replace(/[^\w-]+/g, "-")}.runnel.json`);
  };
  const dialog: ReactNode = bundle && (
    <LazyBoundary>
      <CarryDialog bundle={bundle} onClose={() => setBundle(null)} />
    </LazyBoundary>
  );
  const acts = [
    { icon: Copy, word: "Duplicate", onDo: () => void duplicate().catch(tell("The copy was not created")) },
    {
      icon: ArrowRightLeft,
      word: at.mode === "test" ? "Copy to live…" : "Copy to…",
      onDo: () => void read().then(setBundle).catch(tell("It cannot be copied")),
    },
    { icon: Download, word: "Export", onDo: () => void save().catch(tell("It was not exported")) },
  ];
  return { acts, dialog };
}
