import { useQuery } from "@tanstack/react-query";
import type { Schedule } from "../../../../server/domain/api-types/schedule.ts";
import { limits } from "../../../../server/domain/limits.ts";
import { lastText, type RunInput, withLastText } from "../../../../server/domain/run-input.ts";
import type { CreateSchedule as ScheduleOrder } from "../../../../server/resources/schedules/schema.ts";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { DeclaredVariables } from "../../entities/agent/declared-variables.tsx";
import { useTeamVariables } from "../../entities/agent/team-variables.ts";
import { useAgentChoices } from "../../entities/agent/use-agent-choices.ts";
import { typedValues } from "../../entities/agent/variable-rows.ts";
import { chosenFields, textOfChoice } from "../../entities/agent/version-choice.ts";
import { VersionSelect } from "../../entities/agent/version-select.tsx";
import { AutomationForm } from "../../entities/automation/automation-form.tsx";
import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { type CatchUp, type IfBusy, scheduleApi } from "../../entities/schedule/schedule-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { serverFieldErrors } from "../../lib/field-errors.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { toast } from "../../ui/feedback/toast.ts";
import { Field } from "../../ui/forms/field.tsx";
import { RadioCards } from "../../ui/forms/radio-cards.tsx";
import { TextArea } from "../../ui/forms/text-area.tsx";
import { PlanFields } from "./plan-fields.tsx";

const busyChoices: { value: IfBusy; label: string; hint: string }[] = [
  { value: "start", label: "Start another run", hint: "Both run at the same time." },
  { value: "skip", label: "Skip this run", hint: "The run is listed as skipped." },
  { value: "queue", label: "Wait", hint: "One run starts when the previous one ends, however many were scheduled." },
];
const missedChoices: { value: CatchUp; label: string; hint: string }[] = [
  { value: "skip", label: "Do nothing", hint: "They are listed as missed." },
  { value: "one", label: "Start one run", hint: "As soon as the server is back." },
];

type Draft = Omit<ScheduleOrder, "input" | "variables" | "version" | "label"> & {
  input: RunInput;
  /** Version or label of the agent. */
  choice: string;
  /** Typed values of the agent's variables, by name. */
  values: Record<string, string>;
} & Required<Pick<ScheduleOrder, "catch_up" | "if_busy" | "user_id">>;

/** Form that creates or edits a schedule: agent and input, times, and handling of missed times. */
export function ScheduleForm({ schedule, onClose }: { schedule?: Schedule; onClose: () => void }) {
  const at = useWorkspace();
  const refresh = useRefresh(scheduleApi);
  // Defaults to the first agent of the list.
  const orderFrom = ({ values, choice, ...draft }: Draft): ScheduleOrder => ({
    ...draft,
    ...(variables.length > 0 && { variables: typedValues(variables, values) }),
    // Values for another agent would make this one refuse its runs.
    ...(agent && variables.length === 0 && schedule?.variables && { variables: null }),
    agent_id: draft.agent_id || (agents[0]?.value ?? ""),
    ...chosenFields(choice),
    name: draft.name.trim(),
    user_id: draft.user_id?.trim() || null,
  });
  const form = useForm({
    first: () => (schedule ? orderOf(schedule) : firstOrder()),
    blame: (error, { name, cron, timezone }) => serverFieldErrors(error, { name, cron, timezone }),
    send: (draft): Promise<Schedule> =>
      schedule ? scheduleApi.change(at, schedule.id, orderFrom(draft)) : scheduleApi.create(at, orderFrom(draft)),
    onSent: async ({ name }) => {
      await refresh();
      toast(schedule ? "Schedule saved" : "Schedule created", name);
      onClose();
    },
  });
  const { draft, text, set } = form;
  const agents = useAgentChoices(draft.agent_id);
  const chosen = draft.agent_id || (agents[0]?.value ?? "");
  const agent = useQuery({ ...agentApi.one(at, chosen), enabled: chosen !== "" }).data;
  const variables = useTeamVariables(agent);
  const body = orderFrom(draft);
  return (
    <AutomationForm
      noun="schedule"
      id={schedule?.id}
      form={form}
      name={{ ...text("name"), placeholder: "Morning report" }}
      agent={{ choices: agents, onChoose: (agent_id) => set({ agent_id, choice: "" }) }}
      body={body}
      onClose={onClose}
    >
      <VersionSelect agentId={body.agent_id} hint="A label is read at each run." {...form.pick("choice")} />
      <TextArea
        label="Input"
        rows={3}
        value={lastText(draft.input)}
        placeholder="Write the report of yesterday's refunds."
        hint="The input of each run."
        onChange={(event) => set({ input: withLastText(draft.input, event.target.value) })}
      />
      <DeclaredVariables
        variables={variables}
        texts={draft.values}
        onText={(name, value) => set({ values: { ...draft.values, [name]: value } })}
      />
      <PlanFields {...form} />
      <details className="min-w-0">
        <summary className="w-fit font-medium text-muted hover:text-ink">Overlaps, missed runs and user</summary>
        <div className="flex flex-col gap-4 pt-3">
          <RadioCards
            label="If the previous run is still in progress"
            choices={busyChoices}
            {...form.choose("if_busy")}
          />
          <RadioCards
            label="Missed runs, such as while the server was down"
            choices={missedChoices}
            {...form.choose("catch_up")}
          />
          <Field
            label="User (optional)"
            maxLength={limits.subject_length}
            autoComplete="off"
            hint="The user_id of its runs and of their memory."
            {...text("user_id")}
            value={draft.user_id ?? ""}
          />
        </div>
      </details>
    </AutomationForm>
  );
}

const firstOrder = (): Draft => ({
  name: "",
  agent_id: "",
  choice: "",
  input: "",
  values: {},
  cron: "0 9 * * mon-fri",
  user_id: null,
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC",
  catch_up: "skip",
  if_busy: "start",
});

function orderOf(schedule: Schedule): Draft {
  const { name, agent_id, input, cron, timezone, catch_up, if_busy, user_id, variables } = schedule;
  const values = Object.fromEntries(Object.entries(variables ?? {}).map(([name, value]) => [name, String(value)]));
  const choice = textOfChoice(schedule);
  return { name, agent_id, choice, input, cron, timezone, catch_up, if_busy, user_id, values };
}
