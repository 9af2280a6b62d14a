import { ChoiceBar } from "../../ui/choice-bar.tsx";

/** Where there is room for one only: the conversation or the agent. */
export function PaneSwitch({
  pane,
  onPane,
}: {
  pane: "agent" | undefined;
  onPane: (pane: "agent" | undefined) => void;
}) {
  return (
    <div className="pg-panes shrink-0 border-b border-line px-4 py-2">
      <ChoiceBar
        name="playground pane"
        label="Shown"
        choices={[
          { value: "chat", label: "Conversation" },
          { value: "agent", label: "Agent" },
        ]}
        chosen={pane ?? "chat"}
        onChoose={(next) => onPane(next === "agent" ? "agent" : undefined)}
      />
    </div>
  );
}
