import * as t from "../../lib/schema.ts";
import { type Kind, prefixes } from "../ids.ts";
import { environments } from "../scope.ts";

// Fields of many objects, with their descriptions.

/** Constant field with the kind of an object. */
export const objectOf = <const K extends string>(kind: K) =>
  t.about(`Always \`${kind}\`: programs that read objects of several kinds tell them apart by it.`, t.word(kind));

/** Field of the object's own id. */
export const ownId = (kind: Kind) =>
  t.about(`Its own id: \`${prefixes[kind]}_\` and 26 characters. The server chooses it, and it never changes.`, t.text);

/** Constant field by which the members of a union differ. */
export const typeIs = <const K extends string>(type: K) =>
  t.about(`Always \`${type}\`: it says which other fields there are.`, t.word(type));

/** Constant field with the status that an event brings. */
export const statusIs = <const K extends string>(status: K) =>
  t.about(`The run's status from here on: always \`${status}\`.`, t.word(status));

export const Name = t.about(
  "The name that you gave it, by which people find it in lists and in the dashboard.",
  t.text,
);
export const Metadata = t.about("Up to 16 key-value pairs of your own.", t.map(t.text));
export const CreatedAt = t.about("When it was created, in UTC: RFC 3339 with milliseconds. It never changes.", t.time);
export const UpdatedAt = t.about(
  "When a request or the server last changed it, in UTC: RFC 3339 with milliseconds.",
  t.time,
);
export const AgentId = t.about("Id of the agent that it belongs to: `agt_…`, for `GET /v1/agents/:id`.", t.text);
export const ProjectId = t.about(
  "Id of the project that it belongs to. API keys of other projects cannot see it.",
  t.text,
);
export const Environment = t.about("The environment that it belongs to: `test` or `live`.", t.oneOf(environments));
export const RunId = t.about("Id of the run that it belongs to: `run_…`, for `GET /v1/runs/:id`.", t.text);
export const At = t.about("When it happened, in UTC: RFC 3339 with milliseconds.", t.time);
export const ToolName = t.about("The name by which the model calls the tool.", t.text);
export const ErrorMessage = t.about("What went wrong, for people; it may change.", t.text);
export const ErrorCode = t.about("What went wrong, for programs.", t.text);
export const Arguments = t.about("What the model gave the call, by the names of the tool's `parameters`.", t.anyObject);
export const HasMore = t.about("Whether there are items beyond this page.", t.boolean);
export const Attempt = t.about("The number of the attempt, from 1. It grows with each repetition.", t.integer);
export const Duration = t.about("How long it took, in milliseconds.", t.integer);
export const ModelName = t.about("The model, as `<provider>/<model>`.", t.text);
export const CompletedAt = t.about("When it ended; null while it goes on.", t.orNull(t.time));
export const ExpiresAt = t.about("When it expires; null: never.", t.orNull(t.time));
export const StepIndex = t.about("The step's number in the run, from 0.", t.integer);
export const Enabled = t.about("Whether it is in use. What is switched off is kept, and does nothing.", t.boolean);
export const AttemptsCount = t.about("How many attempts were made so far, the first one included.", t.integer);
export const ToolTypeName = t.about(
  "What kind of tool it is, such as `http`, `mcp` or `client`: it says who carries out the call.",
  t.text,
);
export const MimeType = t.about("Media type of the content, such as `application/pdf`.", t.text);
export const MemoryId = t.about("Id of the memory store that is used: `mem_…`.", t.text);
