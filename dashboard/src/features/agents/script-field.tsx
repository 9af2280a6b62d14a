import { useQuery } from "@tanstack/react-query";
import { toolApi } from "../../entities/tool/tool-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { JsonField } from "../../ui/json-field.tsx";
import { exampleScript } from "./test-model.ts";

/** What `test/script` says. An example is made of the tools that were picked. */
export function ScriptField({
  value,
  fault,
  tools,
  onText,
}: {
  value: string;
  fault: string | undefined;
  /** The ids of the tools that the agent has. */
  tools: readonly string[];
  onText: (text: string) => void;
}) {
  const all = useQuery(toolApi.every(useWorkspace()));
  const picked = (all.data ?? []).filter(({ id, type }) => tools.includes(id) && type !== "mcp");
  return (
    <>
      <JsonField
        label="Script"
        optional
        rows={5}
        hint="What test/script says, one entry for each model call: text, tool_calls, error, delay_ms."
        value={value}
        fault={fault}
        onText={onText}
      />
      {value.trim() === "" && (
        <div>
          <Button size="sm" onClick={() => onText(exampleScript(picked))}>
            {picked.length > 0 ? "Write one that calls the picked tools" : "Write an example"}
          </Button>
        </div>
      )}
    </>
  );
}
