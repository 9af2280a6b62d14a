import { webhookEvents, webhookTopics } from "../../../../server/domain/api-types/enums.ts";

/** Event types of a webhook: all, or a selection. */
export function EventChoice({ events, onChange }: { events: string[]; onChange: (events: string[]) => void }) {
  const isAll = events.includes("*");
  const toggle = (event: string, on: boolean) =>
    onChange(webhookEvents.filter((each) => (each === event ? on : events.includes(each))));
  return (
    <fieldset className="flex min-w-0 flex-col">
      <legend className="mb-1.5 font-medium">Events to send</legend>
      <Check
        name="All events"
        hint="Includes events that later versions add."
        checked={isAll}
        onChange={(on) => onChange(on ? ["*"] : ["run.completed", "run.failed"])}
      />
      {!isAll &&
        webhookEvents.map((event) => (
          <Check
            key={event}
            name={event}
            mono
            hint={webhookTopics[event]}
            checked={events.includes(event)}
            onChange={(on) => toggle(event, on)}
          />
        ))}
    </fieldset>
  );
}

function Check({
  name,
  hint,
  mono = false,
  checked,
  onChange,
}: {
  name: string;
  hint: string;
  mono?: boolean;
  checked: boolean;
  onChange: (checked: boolean) => void;
}) {
  return (
    <label className="flex cursor-pointer items-baseline gap-2.5 py-0.5">
      <input
        type="checkbox"
        className="translate-y-0.5"
        checked={checked}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span className="min-w-0">
        {mono ? <code>{name}</code> : <span className="font-medium">{name}</span>}
        <span className="ml-2 text-xs text-muted">{hint}</span>
      </span>
    </label>
  );
}
