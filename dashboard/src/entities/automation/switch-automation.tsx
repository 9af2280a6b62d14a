import { useMutation } from "@tanstack/react-query";
import { Pause, Play } from "lucide-react";
import { capital } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { toast, toastFailure } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import type { WorkspaceKey } from "../crud/resource.ts";
import { useRefresh } from "../crud/use-refresh.ts";

/** A schedule or a trigger. */
interface Automation {
  id: string;
  name: string;
  enabled: boolean;
}

interface AutomationApi {
  all: (at: WorkspaceKey) => { queryKey: unknown[] };
  change: (at: WorkspaceKey, id: string, change: { enabled: boolean }) => Promise<Automation>;
}

/** Pauses or resumes an automation. `noun` is its kind: “schedule”. */
export function useSwitchAutomation(api: AutomationApi, noun: string) {
  const at = useWorkspace();
  const refresh = useRefresh(api);
  return useMutation({
    mutationFn: ({ id, enabled }: Automation) => api.change(at, id, { enabled: !enabled }),
    onSuccess: async ({ enabled, name }) => {
      toast(`${capital(noun)} ${enabled ? "resumed" : "paused"}`, name);
      await refresh();
    },
    onError: (error, { enabled }) =>
      toastFailure(`The ${noun} was not ${enabled ? "paused" : "resumed"}`, error.message),
  });
}

type Switching = Pick<ReturnType<typeof useSwitchAutomation>, "isPending" | "mutate">;

/** Button that pauses or resumes an automation. */
export function SwitchButton({ automation, switching }: { automation: Automation; switching: Switching }) {
  const Icon = automation.enabled ? Pause : Play;
  return (
    <Button disabled={switching.isPending} onClick={() => switching.mutate(automation)}>
      <Icon aria-hidden className="size-4" strokeWidth={1.5} />
      {automation.enabled ? "Pause" : "Resume"}
    </Button>
  );
}

/** The same as an action of a menu. */
export const switchAction = (noun: string, automation: Automation, switching: Switching) => ({
  icon: automation.enabled ? Pause : Play,
  word: `${automation.enabled ? "Pause" : "Resume"} ${noun}`,
  onDo: () => switching.mutate(automation),
});
