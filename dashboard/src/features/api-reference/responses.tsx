import { ChevronRight } from "lucide-react";
import type { Answer, OpenApi } from "../../entities/server/openapi-api.ts";
import { FieldTable } from "./field-table.tsx";
import { listFields } from "./list-fields.ts";
import type { ListedOperation } from "./list-operations.ts";
import { typeOf } from "./type-of.ts";
import { WithCode } from "./with-code.tsx";

/** The responses of an operation, by status. Successes are expanded, errors are collapsed. */
export function Responses({ operation, document }: { operation: ListedOperation; document: OpenApi }) {
  return (
    <div className="flex flex-col gap-2">
      {Object.entries(operation.responses).map(([status, response]) => (
        <OneResponse key={status} status={status} answer={resolveResponse(response, document)} document={document} />
      ))}
    </div>
  );
}

const resolveResponse = (answer: Answer, { components }: OpenApi): Answer =>
  answer.$ref ? (components.responses[answer.$ref.split("/").at(-1) ?? ""] ?? answer) : answer;

function OneResponse({ status, answer, document }: { status: string; answer: Answer; document: OpenApi }) {
  const [media, content] = Object.entries(answer.content ?? {})[0] ?? [];
  const schema = content?.schema;
  const lines = listFields(schema, document);
  const codes = answer["x-error-codes"];
  const kind = schema && media === "application/json" ? typeOf(schema, document) : media;
  return (
    <details open={/^2/.test(status)} className="group min-w-0 rounded-md border border-line">
      <summary className="flex cursor-pointer list-none items-start gap-2 rounded-md px-3 py-2 hover:bg-hover">
        <ChevronRight
          aria-hidden
          className="mt-0.5 size-4 shrink-0 text-muted transition-transform group-open:rotate-90"
          strokeWidth={1.5}
        />
        <code className="shrink-0 font-strong">{status}</code>
        <span className="min-w-0 wrap-anywhere">
          <WithCode text={codes ? codes.map((code) => `\`${code}\``).join(", ") : (answer.description ?? "")} />
          {kind && <span className="text-muted"> {kind}</span>}
        </span>
      </summary>
      {codes && (
        <ul className="flex max-w-[68ch] flex-col gap-1 border-t border-line px-3 py-2">
          {answer.description?.split("\n\n").map((meaning) => (
            <li key={meaning}>
              <WithCode text={meaning} />
            </li>
          ))}
        </ul>
      )}
      {lines.length > 0 && (
        <div className="border-t border-line p-2">
          <FieldTable label={`Response ${status}`} lines={lines} />
        </div>
      )}
    </details>
  );
}
