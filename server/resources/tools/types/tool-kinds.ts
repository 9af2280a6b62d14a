import type { Static, TObject, TProperties } from "@sinclair/typebox";
import type { ToolType } from "../../../domain/agent-snapshot.ts";
import * as t from "../../../lib/schema.ts";
import * as agent from "./agent.ts";
import * as all from "./all.ts";
import * as code from "./code.ts";
import * as email from "./email.ts";
import * as http from "./http.ts";
import * as mcp from "./mcp.ts";
import * as page from "./page.ts";
import { requestFields, type requestResponseFields } from "./request.ts";
import type { ToolKind } from "./tool-kind.ts";

/** Fields of all types. A field that several types have is the same in all of them. */
export const typeFields = {
  ...http.fields,
  ...requestFields,
  ...code.fields,
  ...mcp.fields,
  ...agent.fields,
  ...page.fields,
  ...email.fields,
};

/** Tool types. Their calls are run by `runTool` of the agent loop. */
export const toolKinds: Record<ToolType, ToolKind> = all;

/** Output fields of this type beside the common ones. Without a description, a field has that of the input field. */
export const responseFields = (type: ToolType): TProperties => {
  const { fields, response } = toolKinds[type];
  return Object.fromEntries(
    Object.entries(response).map(([name, schema]) => [name, t.about(schema.about ?? fields[name]?.about, schema)]),
  );
};

/** Output of the fields that only some types have. */
export type TypeOutput = Partial<
  Static<
    TObject<
      typeof requestResponseFields &
        typeof http.response &
        typeof code.response &
        typeof mcp.response &
        typeof agent.response &
        typeof page.response &
        typeof email.response
    >
  >
>;
