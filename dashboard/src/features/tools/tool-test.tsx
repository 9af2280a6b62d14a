import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, Wrench, X } from "lucide-react";
import { type FormEvent, useState } from "react";
import type { ToolTest as TestAnswer, Tool } from "../../../../server/resources/tools/schema.ts";
import { oauthClientApi } from "../../entities/oauth/oauth-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { testTool } from "../../entities/tool/tool-api.ts";
import { ApiError } from "../../lib/api.ts";
import { exampleArguments } from "../../lib/example-arguments.ts";
import { formatBytes, formatDuration, plural } from "../../lib/format.ts";
import { isJsonObject, jsonText, readJson } from "../../lib/json-text.ts";
import { sendOnEnter } from "../../lib/send-on-enter.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { JsonView } from "../../ui/data/json-view.tsx";
import { Pill } from "../../ui/data/pill.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button, buttonClass } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { JsonField } from "../../ui/forms/json-field.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { FoldedCode } from "../../ui/forms/show-code.tsx";
import { toolParts } from "./types/tool-parts.ts";

interface ToolTestProps {
  tool: Tool;
  /** For an MCP server, the tool to test. */
  serverTool: string | undefined;
  onServerTool: (name: string) => void;
}

/** Calls a tool once, outside of any run. */
export function ToolTest(props: ToolTestProps) {
  const { tool } = props;
  const { testUnavailable } = toolParts[tool.type];
  if (!testUnavailable) return <TestForm {...props} />;
  return (
    <EmptyState icon={Wrench} title={testUnavailable.title}>
      <p className="max-w-[46ch] text-muted">{testUnavailable.about}</p>
      <Link to="/playground" className={buttonClass()}>
        Open the playground
      </Link>
    </EmptyState>
  );
}

function TestForm({ tool, serverTool, onServerTool }: ToolTestProps) {
  const at = useWorkspace();
  const may = usePermission("member");
  const serverTools = tool.type === "mcp" ? (tool.tools ?? []) : null;
  const chosen = serverTools?.find(({ name }) => name === serverTool) ?? serverTools?.[0];
  const schema = serverTools ? chosen?.parameters : tool.parameters;
  const [text, setText] = useState(() => jsonText(exampleArguments(schema)));
  const read = readJson(text);
  const fault = read.fault ?? (isJsonObject(read.value) ? null : "Must be an object: { … }.");
  const oauth = useQuery({
    ...oauthClientApi.one(at, tool.auth?.oauth_client_id ?? ""),
    enabled: Boolean(tool.auth),
    retry: false,
  });
  const isPerUser = oauth.data?.per_user ?? false;
  const [user, setUser] = useState("");
  const body = {
    arguments: read.value,
    ...(chosen && { name: chosen.name }),
    ...(isPerUser && user.trim() !== "" && { user_id: user.trim() }),
  };
  const test = useMutation({ mutationFn: () => testTool(at, tool.id, body) });
  const argumentErrors =
    test.error instanceof ApiError && test.error.fieldErrors.length > 0 ? test.error.fieldErrors : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!fault && may && !test.isPending) test.mutate();
  };
  if (serverTools && !chosen)
    return (
      <EmptyState icon={Wrench} title="The server has listed no tools yet">
        <p className="max-w-[46ch] text-muted">Refresh the list on the definition's page.</p>
      </EmptyState>
    );
  return (
    <div className="relative min-h-0 flex-1 overflow-y-auto px-4 py-4 rail:px-5">
      <div className="grid gap-6 wide:grid-cols-2">
        <form onSubmit={submit} noValidate onKeyDown={sendOnEnter} className="flex min-w-0 flex-col gap-4">
          {serverTools && chosen && (
            <Select
              label="Tool of the server"
              value={chosen.name}
              choices={serverTools.map(({ name }) => ({ value: name, label: name }))}
              onChoose={onServerTool}
            />
          )}
          <JsonField
            label="Arguments"
            hint="An example that matches the schema."
            schema={schema ?? undefined}
            value={text}
            fault={argumentErrors ? argumentErrors.map(({ message }) => message).join(" ") : null}
            onText={(next) => {
              setText(next);
              if (test.isError) test.reset();
            }}
          />
          {isPerUser && (
            <Field
              label="User"
              placeholder="ada"
              hint="The call uses this user's account."
              autoComplete="off"
              spellCheck={false}
              value={user}
              onChange={({ target }) => setUser(target.value)}
            />
          )}
          {at.mode === "live" && (
            <Callout tone="warn">This is live data: the call is real and needs no approval here.</Callout>
          )}
          <div>
            <Button type="submit" kind="primary" disabled={!may || fault !== null || test.isPending}>
              {test.isPending ? "Calling" : "Call tool"}
            </Button>
          </div>
          <FoldedCode name="test" request={{ method: "POST", path: `/v1/tools/${tool.id}/test`, body }} />
        </form>
        <section aria-label="Result of the call" className="flex min-w-0 flex-col gap-3">
          <h2 className="text-md">Result</h2>
          {test.error && !argumentErrors && <ErrorNote title="The tool was not called" error={test.error} />}
          {test.data && !test.isPending && <Answer answer={test.data} />}
          {!test.data && !test.error && (
            <p role="status" className="text-muted">
              {test.isPending
                ? "The call is in progress."
                : "No calls yet. Each call here is recorded in the audit log."}
            </p>
          )}
        </section>
      </div>
    </div>
  );
}

function Answer({ answer: { output, error, latency_ms, attempts, files = [] } }: { answer: TestAnswer }) {
  return (
    <>
      <p role="status" className="flex flex-wrap items-center gap-2 text-xs text-muted tabular-nums">
        {error ? (
          <Pill tone="bad" icon={X}>
            Failed
          </Pill>
        ) : (
          <Pill tone="ok" icon={Check}>
            Succeeded
          </Pill>
        )}
        {formatDuration(latency_ms)} · {plural(attempts, "attempt")}
      </p>
      {error && (
        <Callout tone="bad">
          <b>The model would read this error</b>
          <p>{error.message}</p>
          <code className="text-muted">{error.code}</code>
        </Callout>
      )}
      {!error && (
        <div className="relative max-h-140 min-w-0 overflow-y-auto rounded-md border border-line bg-subtle py-2.5 pr-10 pl-3">
          {typeof output === "string" ? (
            <pre className="whitespace-pre-wrap wrap-anywhere">{output}</pre>
          ) : (
            <JsonView value={output} />
          )}
          <span className="absolute top-1 right-1">
            <CopyButton text={typeof output === "string" ? output : jsonText(output)} what="output" />
          </span>
        </div>
      )}
      {files.length > 0 && (
        <p className="text-xs text-muted wrap-anywhere">
          Files created: {files.map(({ filename, bytes }) => `${filename} (${formatBytes(bytes)})`).join(", ")}
        </p>
      )}
    </>
  );
}
