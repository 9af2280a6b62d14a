import * as t from "../../lib/schema.ts";
import { environments } from "../scope.ts";

// Fields of many objects, with their descriptions.

/** Constant field with the kind of an object. */
export const objectOf = <const K extends string>(kind: K) => t.about("What this object is.", t.word(kind));

export const Id = t.about("Its id.", t.text);
export const Name = t.about("Its name.", t.text);
export const Metadata = t.about("Up to 16 key-value pairs of your own.", t.map(t.text));
export const CreatedAt = t.about("When it was created.", t.time);
export const UpdatedAt = t.about("When it was last changed.", t.time);
export const AgentId = t.about("The agent.", t.text);
export const ProjectId = t.about("The project that it belongs to.", t.text);
export const Environment = t.about("The environment that it belongs to: `test` or `live`.", t.oneOf(environments));
export const RunId = t.about("The run.", t.text);
export const At = t.about("When it happened.", t.time);
export const ToolName = t.about("The tool's name.", t.text);
export const ErrorMessage = t.about("What went wrong, for people; it may change.", t.text);
export const ErrorCode = t.about("What went wrong, for programs.", t.text);
export const Arguments = t.about("The arguments of the call.", t.anyObject);
export const HasMore = t.about("Whether there are items beyond this page.", t.boolean);
export const Attempt = t.about("The number of the attempt, from 1.", t.integer);
export const Duration = t.about("How long it took, in milliseconds.", t.integer);
export const ModelName = t.about("The model, as `<provider>/<model>`.", t.text);
export const CompletedAt = t.about("When it ended; null while it goes on.", t.orNull(t.time));
export const ExpiresAt = t.about("When it expires; null: never.", t.orNull(t.time));
export const StepIndex = t.about("The step's number in the run, from 0.", t.integer);
export const Enabled = t.about("Whether it is in use.", t.boolean);
export const AttemptsCount = t.about("The number of attempts.", t.integer);
export const ToolTypeName = t.about("The type of the tool.", t.text);
export const Text = t.about("The text.", t.text);
export const MimeType = t.about("The format of the content.", t.text);
export const MemoryId = t.about("The memory store.", t.text);
