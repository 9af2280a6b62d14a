import { ChevronLeft } from "lucide-react";
import { type ReactNode, useId } from "react";
import type { OpenApi } from "../../entities/server/openapi-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { ShowCode } from "../../ui/forms/show-code.tsx";
import { exampleRequest } from "./example-request.ts";
import { FieldTable } from "./field-table.tsx";
import { listFields } from "./list-fields.ts";
import type { ListedOperation } from "./list-operations.ts";
import { Method } from "./method.tsx";
import { parameterLines } from "./parameter-lines.ts";
import { Responses } from "./responses.tsx";
import { TryIt } from "./try-it.tsx";
import { WithCode } from "./with-code.tsx";

interface OperationDetailProps {
  operation: ListedOperation;
  document: OpenApi;
  onBack: () => void;
}

/** One operation: its parameters, body, responses, the request as code, and a form that sends it. */
export function OperationDetail({ operation, document, onBack }: OperationDetailProps) {
  const { mode } = useWorkspace();
  const { method, path, summary, description, operationId } = operation;
  const parameters = parameterLines(operation, document);
  const bodies = Object.entries(operation.requestBody?.content ?? {}).filter(([, { schema }]) => schema);
  return (
    <article
      aria-labelledby="operation"
      className="relative min-h-0 min-w-0 flex-1 overflow-y-auto px-4 py-4 rail:px-5"
    >
      <Button kind="ghost" size="sm" className="-ml-2 mb-2 wide:hidden" onClick={onBack}>
        <ChevronLeft aria-hidden className="size-4" strokeWidth={1.5} />
        All operations
      </Button>
      <h2 id="operation" className="text-lg wrap-anywhere">
        {summary}
      </h2>
      <div className="flex min-w-0 items-center gap-2 pt-1">
        <Method method={method} wide />
        <code className="wrap-anywhere">{path}</code>
        <CopyButton text={`${location.origin}${path}`} what="address" />
      </div>
      {description && (
        <p className="max-w-[68ch] pt-2 text-md">
          <WithCode text={description} />
        </p>
      )}
      <div className="flex max-w-250 flex-col gap-6 pt-5 pb-8">
        <Part title="Request">
          <ShowCode name={operationId} request={exampleRequest(operation, mode)} />
        </Part>
        {parameters.length > 0 && (
          <Part title="Parameters">
            <FieldTable label="Parameters" lines={parameters} />
          </Part>
        )}
        {bodies.map(([type, { schema }]) => {
          const lines = listFields(schema, document);
          const title = type === "application/json" ? "Body" : `Body as ${type}`;
          return (
            <Part key={type} title={title}>
              {lines.length > 0 ? (
                <FieldTable label={title} lines={lines} />
              ) : (
                <p className="text-muted">{type === "application/json" ? "No fields." : "The content itself."}</p>
              )}
            </Part>
          );
        })}
        <Part title="Responses">
          <Responses operation={operation} document={document} />
        </Part>
        <Part title="Try it">
          <TryIt key={`${operationId} ${mode}`} operation={operation} />
        </Part>
      </div>
    </article>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="min-w-0">
      <h3 id={id} className="pb-2 text-md">
        {title}
      </h3>
      {children}
    </section>
  );
}
