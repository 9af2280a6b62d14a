import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { lastText, withLastText } from "../../../../server/core/run-input.ts";
import type { CreateSchedule as ScheduleOrder } from "../../../../server/schedules/schema.ts";
import type { Schedule } from "../../../../server/wire/schedule.ts";
import { newestAgentsQuery } from "../../entities/agent/agent-api.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { useRefresh } from "../../entities/resource/use-refresh.ts";
import { type CatchUp, type IfBusy, scheduleApi } from "../../entities/schedule/schedule-api.ts";
import { faultOf } from "../../lib/fault-of.ts";
import { useChanged } from "../../lib/use-changed.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ChoiceCards } from "../../ui/choice-cards.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Note } from "../../ui/note.tsx";
import { Select } from "../../ui/select.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { TextArea } from "../../ui/text-area.tsx";
import { toast } from "../../ui/toast.ts";
import { PlanFields } from "./plan-fields.tsx";

const busyChoices: { value: IfBusy; label: string; hint: string }[] = [
  { value: "start", label: "Start another one", hint: "Both run side by side." },
  { value: "skip", label: "Skip this time", hint: "The list says so, and the next time comes as planned." },
  { value: "queue", label: "Wait", hint: "One run starts when the other is over, however many times went by." },
];
const missedChoices: { value: CatchUp; label: string; hint: string }[] = [
  { value: "skip", label: "Nothing", hint: "The list says that they were missed." },
  { value: "one", label: "One run for all of them", hint: "As soon as the server is back." },
];

/** Makes a schedule, or changes one: what is run, when, and what becomes of times that cannot be kept. */
export function ScheduleForm({ schedule, onClose }: { schedule?: Schedule; onClose: () => void }) {
  const at = useWorkspace();
  const refresh = useRefresh(scheduleApi);
  const [order, setOrder] = useState<ScheduleOrder>(() => (schedule ? orderOf(schedule) : firstOrder()));
  const agents = useAgentChoices(order.agent_id);
  const agent_id = order.agent_id || (agents[0]?.value ?? "");
  const asked: ScheduleOrder = { ...order, agent_id, name: order.name.trim(), user_id: order.user_id?.trim() || null };
  const saving = useMutation({
    mutationFn: () => (schedule ? scheduleApi.change(at, schedule.id, asked) : scheduleApi.create(at, asked)),
    onSuccess: async ({ name }) => {
      await refresh();
      toast(schedule ? "Schedule saved" : "Schedule created", name);
      onClose();
    },
  });
  const set = (change: Partial<ScheduleOrder>) => {
    setOrder({ ...order, ...change });
    saving.reset();
  };
  const faults = {
    name: faultOf(saving.error, "name"),
    cron: faultOf(saving.error, "cron"),
    timezone: faultOf(saving.error, "timezone"),
  };
  const act = schedule ? "Save schedule" : "Create schedule";
  const unsaved = useChanged(order) && !saving.isPending;
  return (
    <FormDialog
      open
      unsaved={unsaved}
      onOpenChange={(open) => !open && onClose()}
      wide
      title={schedule ? "Edit schedule" : "Create schedule"}
      about={
        <>
          Its runs are <b>{at.mode} data</b> of {at.project.name}.
        </>
      }
      act={saving.isPending ? "Saving" : act}
      keep="Cancel"
      busy={saving.isPending || asked.name === "" || agent_id === ""}
      onSubmit={() => saving.mutate()}
    >
      <div className="grid items-start gap-4 rail:grid-cols-2">
        <Field
          label="Name"
          value={order.name}
          maxLength={128}
          autoComplete="off"
          placeholder="Morning report"
          onChange={(event) => set({ name: event.target.value })}
          error={faults.name}
        />
        <Select label="Agent" value={agent_id} choices={agents} onChoose={(next) => set({ agent_id: next })} />
      </div>
      {agents.length === 0 && (
        <Note tone="info">There is no agent yet. Create one first: a schedule runs an agent.</Note>
      )}
      <TextArea
        label="Input"
        rows={3}
        value={lastText(order.input)}
        placeholder="Write the report of yesterday's refunds."
        hint="What each run is given."
        onChange={(event) => set({ input: withLastText(order.input, event.target.value) })}
      />
      <PlanFields
        cron={order.cron}
        timezone={order.timezone}
        faults={faults}
        onCron={(cron) => set({ cron })}
        onTimezone={(timezone) => set({ timezone })}
      />
      <details className="min-w-0">
        <summary className="w-fit font-medium text-muted hover:text-ink">Times that cannot be kept, and user</summary>
        <div className="flex flex-col gap-4 pt-3">
          <ChoiceCards
            label="When its last run is still going"
            choices={busyChoices}
            chosen={order.if_busy ?? "start"}
            onChoose={(if_busy) => set({ if_busy })}
          />
          <ChoiceCards
            label="When times went by unseen, as while the server was down"
            choices={missedChoices}
            chosen={order.catch_up ?? "skip"}
            onChoose={(catch_up) => set({ catch_up })}
          />
          <Field
            label="User (optional)"
            value={order.user_id ?? ""}
            maxLength={255}
            autoComplete="off"
            onChange={(event) => set({ user_id: event.target.value })}
            hint="For whom it runs: the user_id of its runs, and of what they remember."
          />
        </div>
      </details>
      <FoldedCode
        name="schedule"
        request={
          schedule
            ? { method: "PATCH", path: `/v1/schedules/${schedule.id}`, body: asked }
            : { method: "POST", path: "/v1/schedules", body: asked }
        }
      />
      {saving.error && !Object.values(faults).some(Boolean) && (
        <ErrorNote title={`The schedule was not ${schedule ? "saved" : "created"}`} error={saving.error} />
      )}
    </FormDialog>
  );
}

const firstOrder = (): ScheduleOrder => ({
  ...{ name: "", agent_id: "", input: "", cron: "0 9 * * mon-fri", user_id: null },
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC",
  catch_up: "skip",
  if_busy: "start",
});

function orderOf({ name, agent_id, input, cron, timezone, catch_up, if_busy, user_id }: Schedule): ScheduleOrder {
  return { name, agent_id, input, cron, timezone, catch_up, if_busy, user_id };
}

/** Agents to choose from; the one that is chosen is among them, however old it is. */
function useAgentChoices(chosen: string): { value: string; label: string }[] {
  const at = useWorkspace();
  const { data } = useQuery(newestAgentsQuery(at));
  const name = useAgentName(chosen);
  const known = (data?.data ?? []).map(({ id, name: label }) => ({ value: id, label }));
  return chosen && !known.some(({ value }) => value === chosen) ? [{ value: chosen, label: name }, ...known] : known;
}
