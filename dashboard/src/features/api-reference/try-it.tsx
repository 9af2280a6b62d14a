import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useApiSchema } from "../../entities/server/use-api-schema.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { resourceUrl, sendPlain } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CodeBlock } from "../../ui/data/code-block.tsx";
import { CodeEditor } from "../../ui/editor/code-editor.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { exampleRequest } from "./example-request.ts";
import type { ListedOperation } from "./list-operations.ts";
import { formParameters, type Trial, trialFault, trialPath } from "./trial.ts";

/** Sends the operation with the signed-in person's session, in this project and mode, and shows the response. */
export function TryIt({ operation }: { operation: ListedOperation }) {
  const at = useWorkspace();
  const { mode } = at;
  const isRead = operation.method === "GET";
  const shape = operation.requestBody?.content["application/json"]?.schema?.$ref?.split("/").at(-1);
  const schema = useApiSchema(shape ?? "");
  const may = usePermission(isRead ? "viewer" : "member");
  const client = useQueryClient();
  const example = exampleRequest(operation, mode).body;
  const [trial, setTrial] = useState<Trial>({
    values: {},
    body: operation.requestBody ? JSON.stringify(example ?? {}, null, 2) : null,
  });
  const [fault, setFault] = useState<string | null>(null);
  const sending = useMutation({
    mutationFn: () => sendPlain(operation.method, resourceUrl(at, trialPath(operation, trial)), trial.body),
    onSuccess: async () => {
      if (!isRead) await client.invalidateQueries();
    },
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    const found = trialFault(operation, trial);
    setFault(found);
    if (found === null) sending.mutate();
  };
  const fill = (name: string, value: string) => setTrial({ ...trial, values: { ...trial.values, [name]: value } });
  if (!may) return <p className="text-muted">Your role is viewer: you can send requests that read, and no others.</p>;
  return (
    <form className="flex flex-col gap-3" onSubmit={send}>
      <p className="max-w-[68ch] text-muted">
        It is sent with your session, to this project in {mode === "live" ? "Live" : "Test"}
        {isRead ? "." : ", and takes effect."}
      </p>
      {formParameters(operation)
        .filter(({ schema }) => schema?.type !== "object")
        .map(({ name, required, description }) => (
          <Field
            key={name}
            label={required ? `${name} (required)` : name}
            hint={description}
            value={trial.values[name] ?? ""}
            onChange={(event) => fill(name, event.target.value)}
          />
        ))}
      {trial.body !== null && (
        <CodeEditor
          label="Body to send"
          language="json"
          value={trial.body}
          schema={shape ? schema : undefined}
          onText={(body) => setTrial({ ...trial, body })}
        />
      )}
      {fault && (
        <p role="alert" className="text-bad">
          {fault}
        </p>
      )}
      <Button type="submit" kind={mode === "live" && !isRead ? "danger" : "plain"} className="self-start">
        {sending.isPending ? "Sending…" : "Send request"}
      </Button>
      <ErrorNote title="The request was not sent" error={sending.error} />
      {sending.data && (
        <CodeBlock code={sending.data.text} label="Response" head={<code>Status {sending.data.status}</code>} />
      )}
    </form>
  );
}
